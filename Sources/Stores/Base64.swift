/// Base64 as signed texts use it: url-safe without padding (RFC 4648, section 5), or the standard
/// alphabet with padding, as in the certificates of a header.
enum Base64 {
    /// - Returns: nil when a character is of another alphabet or the length cannot be.
    static func decodeURLSafe(_ text: some Sequence<UInt8>) -> [UInt8]? {
        decode(text, table: urlSafeTable)
    }

    /// Padding may be missing.
    static func decodeStandard(_ text: some Collection<UInt8>) -> [UInt8]? {
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        return decode(text.dropLast(padding), table: standardTable)
    }

    static func encodeURLSafe(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(urlSafeAlphabet[Int(buffer >> UInt32(bits) & 63)])
            }
            buffer &= 63
        }
        if bits > 0 { text.append(urlSafeAlphabet[Int(buffer << UInt32(6 - bits) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func decode(
        _ text: some Sequence<UInt8>, table: [UInt8]
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.underestimatedCount / 4 * 3 + 3)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        var seen: UInt8 = 0
        for character in text {
            let value = table[Int(character)]
            seen |= value
            buffer = buffer << 6 | UInt32(value & 63)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
            }
        }
        // One character beyond a group of four cannot hold a byte; bits left over must be zero, or
        // one signature would have several texts.
        guard seen < invalid, bits < 6, buffer & (1 << bits - 1) == 0 else { return nil }
        return bytes
    }

    private static let invalid: UInt8 = 64
    private static let letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let urlSafeAlphabet = Array((letters + "-_").utf8)
    private static let urlSafeTable = table(urlSafeAlphabet)
    private static let standardTable = table(Array((letters + "+/").utf8))

    private static func table(_ alphabet: [UInt8]) -> [UInt8] {
        var table = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() {
            table[Int(character)] = UInt8(value)
        }
        return table
    }
}
