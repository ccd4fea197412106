/// Text that others have chosen, as a part of a URL (RFC 3986): every byte of its UTF-8 form that
/// is not kept is written as `%XX`.
enum PercentEncoding {
    /// As a segment of a path. Keeps `pchar`: the vendors' own examples come out unchanged, and no
    /// text can reach another path.
    static func segment(_ raw: String) -> String {
        encode(raw) { isUnreserved($0) || isAllowedInPaths($0) }
    }

    /// As a value of a query. Keeps unreserved characters alone: whatever `&`, `+` and `=` mean to
    /// a server, the value arrives as it is.
    static func queryValue(_ raw: String) -> String { encode(raw, keeping: isUnreserved) }

    private static func encode(_ raw: String, keeping isKept: (UInt8) -> Bool) -> String {
        let bytes = Array(raw.utf8)
        guard !bytes.allSatisfy(isKept) else { return raw }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count + 32)
        for byte in bytes {
            if isKept(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Sub-delimiters, `:` and `@`.
    private static func isAllowedInPaths(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"),
            UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ":"),
            UInt8(ascii: "@"):
            true
        default: false
        }
    }
}
