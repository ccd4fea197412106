/// Base64 of RFC 4648 with the two alphabets: `-_` without padding for tokens, `+/` with padding
/// for the certificates of `x5c`.
enum Base64 {
    private static let standard = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let forURL = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func url(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        encode(Array(bytes), forURL, padded: false)
    }

    static func padded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        encode(Array(bytes), standard, padded: true)
    }

    private static func encode(_ bytes: [UInt8], _ alphabet: [UInt8], padded: Bool) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let present = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if present > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if present > 2 { group |= UInt32(bytes[index + 2]) }
            for place in 0...present {
                text.append(alphabet[Int(group >> (18 - 6 * UInt32(place)) & 63)])
            }
            index += 3
            if padded {
                text.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - present))
            }
        }
        return text
    }

    /// The bytes of a base64url text without padding; nil when a character does not belong.
    static func bytes(ofURL text: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var group: UInt32 = 0
        var bits: UInt32 = 0
        for character in text {
            guard let value = value(of: character) else { return nil }
            group = (group << 6 | value) & 0xffff
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> bits))
            }
        }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
