/// What is kept of a response's header lines, read as they come.
///
/// libcurl gives the lines of every response in turn: a status line starts afresh, so 1xx ones
/// leave nothing behind. Trailers come after the end of the head and are not looked at.
struct ResponseHead {
    private(set) var contentType: String?
    private(set) var retryAfter: String?
    private(set) var date: String?
    private(set) var requestID: String?

    /// Of the body as it is sent, before decompression.
    private(set) var contentLength: Int?

    private var isInformational = false
    private var isComplete = false
    private var byteCount = 0

    /// The most header bytes of one transfer. libcurl has no such limit of its own.
    static let limitBytes = 256 << 10

    /// Reads one line with its line break.
    ///
    /// - Returns: false when there are more header bytes than `limitBytes`.
    mutating func read(_ line: UnsafeRawBufferPointer) -> Bool {
        byteCount += line.count
        guard byteCount <= Self.limitBytes else { return false }
        guard !isComplete, let first = line.first else { return true }
        switch first {
        case UInt8(ascii: "H") where line.starts(with: "HTTP/".utf8):
            startAfresh(line)
        case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
            isComplete = !isInformational
        // Lower case: all but a letter's bit for its case.
        case _ where Self.initials.contains(first | 0x20):
            keep(line)
        default:
            break
        }
        return true
    }

    private static let initials = [
        UInt8(ascii: "c"), UInt8(ascii: "r"), UInt8(ascii: "d"), UInt8(ascii: "x"),
    ]

    private mutating func startAfresh(_ line: UnsafeRawBufferPointer) {
        let status = line.drop { $0 != UInt8(ascii: " ") }.dropFirst()
        let count = byteCount
        self = ResponseHead()
        byteCount = count
        isInformational = status.first == UInt8(ascii: "1")
    }

    private mutating func keep(_ line: UnsafeRawBufferPointer) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = line[..<colon]
        let value = line[(colon + 1)...]
        if Self.isSame(name, "content-type") {
            contentType = Self.text(value).lowercased()
        } else if Self.isSame(name, "content-length") {
            contentLength = Int(Self.text(value))
        } else if Self.isSame(name, "retry-after") {
            retryAfter = Self.text(value)
        } else if Self.isSame(name, "date") {
            date = Self.text(value)
        } else if Self.isSame(name, "x-apple-request-uuid") || Self.isSame(name, "x-request-id") {
            requestID = Self.text(value)
        }
    }

    private static func isSame(_ name: Slice<UnsafeRawBufferPointer>, _ text: StaticString) -> Bool
    {
        guard name.count == text.utf8CodeUnitCount else { return false }
        let lower = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return zip(name, lower).allSatisfy { $0 == $1 || ($0 | 0x20 == $1 && $0 >= 0x41) }
    }

    private static func text(_ value: Slice<UnsafeRawBufferPointer>) -> String {
        let isBlank = { (byte: UInt8) in byte <= 0x20 }
        var value = value.drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        return String(decoding: value, as: UTF8.self)
    }
}
