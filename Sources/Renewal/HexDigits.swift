extension Sequence<UInt8> {
    /// Two small hexadecimal digits a byte.
    @inlinable package var hexDigits: String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            for digit in [byte >> 4, byte & 15] {
                text.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
