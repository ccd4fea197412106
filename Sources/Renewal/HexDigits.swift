extension Sequence<UInt8> {
    /// Two small hexadecimal digits a byte.
    package var hexDigits: String {
        String(
            decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

private let digits = Array("0123456789abcdef".utf8)
