import Renewal

/// A piece of untrusted text as one segment of a URL's path.
struct PathSegment: Sendable {
    /// Percent-encoded.
    let text: String

    /// Leaves `pchar` of RFC 3986 as it is and escapes every other byte of the UTF-8 form: the
    /// vendors' own examples come out unchanged, and no text can reach another path.
    ///
    /// - Parameters:
    ///   - raw: a token or an id.
    ///   - what: names it in the error, such as `token`.
    /// - Throws: `.rejected` when it is empty, `.`, `..` or over `limitBytes` long.
    init(_ raw: String, what: StaticString) throws(StoreFailure) {
        guard !raw.isEmpty else { throw .rejected(reason: "the \(what) is empty") }
        guard raw != ".", raw != ".." else { throw .rejected(reason: "the \(what) is dots only") }
        guard raw.utf8.count <= PathSegment.limitBytes else {
            throw .rejected(reason: "the \(what) is over \(PathSegment.limitBytes) bytes long")
        }
        text = PathSegment.encode(raw)
    }

    /// Longer ones are refused without asking.
    static let limitBytes = 8 << 10

    private static func encode(_ raw: String) -> String {
        guard !raw.utf8.allSatisfy(isPathCharacter) else { return raw }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(raw.utf8.count + 32)
        for byte in raw.utf8 {
            if isPathCharacter(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Unreserved characters, sub-delimiters, `:` and `@`.
    private static func isPathCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
            UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"),
            UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ":"),
            UInt8(ascii: "@"):
            true
        default:
            false
        }
    }
}
