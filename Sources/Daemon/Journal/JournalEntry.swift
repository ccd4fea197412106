/// One entry in the journal's own protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/).
struct JournalEntry: Hashable, Sendable {
    private(set) var bytes: [UInt8] = []

    /// The journal drops a field with a longer name.
    private static let nameLimit = 64

    /// Adds a field. A value with a line feed is written with its length before it.
    ///
    /// - Parameters:
    ///   - name: put into the form that the journal takes: `A` to `Z`, digits and `_`.
    ///   - value: any text.
    mutating func add(_ name: String, _ value: String) {
        let name = Self.fieldName(name)
        guard !name.isEmpty else { return }
        let text = Array(value.utf8)
        bytes += name
        if text.contains(UInt8(ascii: "\n")) {
            bytes.append(UInt8(ascii: "\n"))
            let length = UInt64(text.count)
            for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: length >> (8 * byte))) }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += text
        bytes.append(UInt8(ascii: "\n"))
    }

    /// A name that the journal does not drop: it takes none that begins with a digit or `_`.
    private static func fieldName(_ name: String) -> [UInt8] {
        let upper = name.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 32
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
            default: UInt8(ascii: "_")
            }
        }
        let start = upper.firstIndex { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
        return Array(upper[(start ?? upper.endIndex)...].prefix(nameLimit))
    }
}
