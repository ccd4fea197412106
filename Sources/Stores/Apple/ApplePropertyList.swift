/// A property list in the style of NeXTSTEP: `{ "key" = "value"; }`, of texts only. iOS 6 wrote its
/// receipts so; it looks like JSON and is none.
struct ApplePropertyList: Hashable, Sendable {
    private let members: [String: String]

    subscript(_ key: String) -> String? { members[key] }

    /// Fails when it is anything else. A missing line break or semicolon at the end is put up with.
    init?(_ bytes: some Sequence<UInt8>) {
        var reader = Reader(bytes: Array(bytes))
        guard let members = reader.members() else { return nil }
        self.members = members
    }

    private struct Reader {
        let bytes: [UInt8]
        var place = 0

        mutating func members() -> [String: String]? {
            var members: [String: String] = [:]
            guard skip("{") else { return nil }
            while !skip("}") {
                guard members.count < memberLimit, let key = text(), skip("="), let value = text()
                else { return nil }
                members[key] = value
                guard skip(";") || peek() == UInt8(ascii: "}") else { return nil }
            }
            skipBlanks()
            return place == bytes.count ? members : nil
        }

        private mutating func peek() -> UInt8? {
            skipBlanks()
            return place < bytes.count ? bytes[place] : nil
        }

        private mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard peek() == UInt8(ascii: character) else { return false }
            place += 1
            return true
        }

        private mutating func skipBlanks() {
            while place < bytes.count, [0x20, 0x09, 0x0a, 0x0d, 0].contains(bytes[place]) {
                place += 1
            }
        }

        /// In quotes with escapes, or a bare word.
        private mutating func text() -> String? {
            guard let first = peek() else { return nil }
            return first == UInt8(ascii: "\"") ? quoted() : word()
        }

        private mutating func quoted() -> String? {
            var text: [UInt8] = []
            place += 1
            while place < bytes.count {
                let byte = bytes[place]
                place += 1
                switch byte {
                case UInt8(ascii: "\""):
                    return String(validating: text, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard place < bytes.count else { return nil }
                    text.append(unescaped(bytes[place]))
                    place += 1
                default:
                    text.append(byte)
                }
            }
            return nil
        }

        private func unescaped(_ byte: UInt8) -> UInt8 {
            switch byte {
            case UInt8(ascii: "n"): 0x0a
            case UInt8(ascii: "t"): 0x09
            case UInt8(ascii: "r"): 0x0d
            default: byte
            }
        }

        private mutating func word() -> String? {
            let word = bytes[place...].prefix { byte in
                byte > 0x20 && !"{}()=;\"\\".utf8.contains(byte)
            }
            place += word.count
            return word.isEmpty ? nil : String(validating: word, as: UTF8.self)
        }

        private let memberLimit = 256
    }
}
