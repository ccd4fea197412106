/// Writes JSON, and knows its commas, quotation marks and escapes. What the stores answer is put
/// together directly, because an encoder would cost more than everything else of an answer.
///
/// Names are our own words and need no escapes. A member without a value is left out.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    /// Whether something stands before the next name or value.
    private var needsComma = false

    init(capacity: Int = 1024) {
        bytes.reserveCapacity(capacity)
    }

    mutating func member(_ name: String, _ value: (some JSONValue)?) {
        guard let value else { return }
        begin(name)
        value.appendJSON(to: &bytes)
    }

    /// A member that is there without a value too.
    mutating func member(_ name: String, orNull value: (some JSONValue)?) {
        begin(name)
        append(value)
    }

    mutating func null(_ name: String) {
        begin(name)
        bytes.append(contentsOf: "null".utf8)
    }

    /// A number as text.
    mutating func member(_ name: String, quoted number: Int64?) {
        guard let number else { return }
        begin(name)
        append(between: String(number).utf8)
    }

    /// A text that needs no escapes: base64 and what is made of it.
    mutating func member(_ name: String, plain text: [UInt8]) {
        begin(name)
        append(between: text)
    }

    mutating func object(_ name: String, _ members: (inout JSONWriter) throws -> Void) rethrows {
        begin(name)
        try appendObject(members)
    }

    mutating func array(_ name: String, _ elements: (inout JSONWriter) throws -> Void) rethrows {
        begin(name)
        bytes.append(UInt8(ascii: "["))
        needsComma = false
        try elements(&self)
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    mutating func array(_ name: String, _ values: some Sequence<some JSONValue>) {
        array(name) { json in
            for value in values { json.element(value) }
        }
    }

    mutating func array(_ name: String, plain texts: [[UInt8]]) {
        array(name) { json in
            for text in texts {
                json.separate()
                json.append(between: text)
            }
        }
    }

    /// An array with an object for each of `elements`.
    mutating func objects<Element>(
        _ name: String, _ elements: some Sequence<Element>,
        _ members: (inout JSONWriter, Element) throws -> Void
    ) rethrows {
        try array(name) { json in
            for element in elements {
                try json.object { json in try members(&json, element) }
            }
        }
    }

    /// An element of an array, or the whole text.
    mutating func element(_ value: some JSONValue) {
        separate()
        value.appendJSON(to: &bytes)
    }

    /// The same, an object.
    mutating func object(_ members: (inout JSONWriter) throws -> Void) rethrows {
        separate()
        try appendObject(members)
    }
}

extension JSONWriter {
    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func begin(_ name: String) {
        separate()
        append(between: name.utf8)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func append(between text: some Collection<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(_ value: (some JSONValue)?) {
        guard let value else { return bytes.append(contentsOf: "null".utf8) }
        value.appendJSON(to: &bytes)
    }

    private mutating func appendObject(_ members: (inout JSONWriter) throws -> Void) rethrows {
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
        try members(&self)
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }
}

/// A finished JSON text.
struct JSON: JSONValue, Sendable {
    let bytes: [UInt8]

    static let emptyObject = object(capacity: 2) { _ in }

    static func object(
        capacity: Int = 1024, _ members: (inout JSONWriter) throws -> Void
    ) rethrows -> JSON {
        var writer = JSONWriter(capacity: capacity)
        try writer.object(members)
        return JSON(bytes: writer.bytes)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    func appendJSON(to bytes: inout [UInt8]) { bytes.append(contentsOf: self.bytes) }
}

/// What a writer can write.
protocol JSONValue {
    func appendJSON(to bytes: inout [UInt8])
}

extension String: JSONValue {
    func appendJSON(to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if utf8.contains(where: Self.isEscaped) {
            for byte in utf8 { Self.append(byte, to: &bytes) }
        } else {
            bytes.append(contentsOf: utf8)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 32 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        guard isEscaped(byte) else { return bytes.append(byte) }
        guard byte < 32 else {
            bytes += [UInt8(ascii: "\\"), byte]
            return
        }
        let digits = String(byte, radix: 16)
        bytes.append(contentsOf: "\\u00\(digits.count == 1 ? "0" : "")\(digits)".utf8)
    }
}

extension Bool: JSONValue {
    func appendJSON(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: (self ? "true" : "false").utf8)
    }
}

extension Int: JSONValue {
    func appendJSON(to bytes: inout [UInt8]) { bytes.append(contentsOf: String(self).utf8) }
}

extension Int64: JSONValue {
    func appendJSON(to bytes: inout [UInt8]) { bytes.append(contentsOf: String(self).utf8) }
}

extension Double: JSONValue {
    func appendJSON(to bytes: inout [UInt8]) { bytes.append(contentsOf: "\(self)".utf8) }
}

/// As RFC 3339.
extension Instant: JSONValue {
    func appendJSON(to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        append(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }
}
