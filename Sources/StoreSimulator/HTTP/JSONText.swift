/// A JSON text under construction, as bytes: what the stores answer is put together directly,
/// because an encoder would cost more than everything else of an answer.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 1024) {
        bytes.reserveCapacity(capacity)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Text that is JSON already.
    mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func raw(_ other: JSONText) {
        bytes.append(contentsOf: other.bytes)
    }

    /// Bytes that are JSON already, or the inside of a string.
    mutating func ready(_ bytes: [UInt8]) {
        self.bytes.append(contentsOf: bytes)
    }

    /// Text between quotation marks, escaped.
    mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<32:
                raw("\\u00")
                bytes.append(Self.hexadecimal[Int(byte >> 4)])
                bytes.append(Self.hexadecimal[Int(byte & 15)])
            default:
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Text known to need no escapes: ids, tokens, orders of our own making.
    mutating func plain(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text.utf8)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func number(_ value: Int64) {
        bytes.append(contentsOf: String(value).utf8)
    }

    mutating func quoted(_ value: Int64) {
        bytes.append(UInt8(ascii: "\""))
        number(value)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func boolean(_ value: Bool) {
        raw(value ? "true" : "false")
    }

    mutating func milliseconds(_ instant: Instant) {
        number(instant.milliseconds)
    }

    mutating func millisecondsOrNull(_ instant: Instant?) {
        guard let instant else { return raw("null") }
        milliseconds(instant)
    }

    mutating func time(_ instant: Instant) {
        bytes.append(UInt8(ascii: "\""))
        instant.append(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    private static let hexadecimal = Array("0123456789abcdef".utf8)
}
