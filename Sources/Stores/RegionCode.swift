/// A country, ISO 3166-1 alpha-2.
enum RegionCode {
    /// Nil for what is none.
    static func checked(_ text: String?) -> String? {
        guard let text, text.utf8.count == 2,
            text.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else { return nil }
        return text
    }
}
