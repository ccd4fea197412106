import Sockets

/// A line of a file, or several where a quoted field holds line ends.
struct FileLine: Hashable, Sendable {
    /// The first is 1.
    let number: Int
    /// As it stands in the file, with its end.
    let bytes: [UInt8]
    /// What is after it: the byte of the file, and the number of the line.
    let end: Place
    let content: Content

    struct Place: Hashable, Sendable {
        var byte: Int64
        var line: Int

        init(byte: Int64 = 0, line: Int = 1) {
            self.byte = byte
            self.line = line
        }
    }

    enum Content: Hashable, Sendable {
        /// Of CSV.
        case fields([[UInt8]])
        /// One JSON value.
        case json
        /// What is wrong with the line.
        case fault(String)
        /// The rest of a line that is too long, as it stands.
        case more
    }
}

/// Takes a file apart, a line at a time, in memory that does not grow with it: CSV by RFC 4180,
/// with LF as well as CRLF, or JSON lines. Empty lines are left out.
///
/// What is wrong costs one line: reading goes on with the next line end, also where a quotation
/// mark is never closed.
///
/// <https://www.rfc-editor.org/rfc/rfc4180>
struct LineReader {
    enum Format: Hashable, Sendable {
        case csv(separator: UInt8)
        case jsonLines
    }

    /// Longest line, in bytes: a token of 4 MiB and room for the rest.
    static let lengthLimit = 6 << 20
    private static let pieceSize = 1 << 18

    var format: Format
    private let more: () throws(ReadFailure) -> [UInt8]
    private var buffer: [UInt8] = []
    /// In the buffer: where the line begins, and how far it was looked at.
    private var start = 0
    private var at = 0
    private var place: FileLine.Place
    private var isAtEnd = false
    private var isInLongLine: Bool

    /// - Parameters:
    ///   - format: of the lines.
    ///   - place: where in the file the bytes begin.
    ///   - isInLongLine: within a line that was too long.
    ///   - more: gives the next bytes; none at the end.
    init(
        _ format: Format, from place: FileLine.Place = FileLine.Place(),
        isInLongLine: Bool = false,
        _ more: @escaping () throws(ReadFailure) -> [UInt8]
    ) {
        self.format = format
        self.place = place
        self.isInLongLine = isInLongLine
        self.more = more
    }

    /// The next line; nil at the end.
    mutating func next() throws(ReadFailure) -> FileLine? {
        drop()
        if isInLongLine { return try restOfLongLine() }
        while let length = try endLength(at: start) { skip(length) }
        guard try byte(start) != nil else { return nil }
        at = start
        switch format {
        case .csv(let separator): return try row(separator)
        case .jsonLines: return try jsonLine()
        }
    }

    /// The first bytes, which stay to be read; to see what the file is.
    mutating func peek(_ count: Int) throws(ReadFailure) -> [UInt8] {
        while buffer.count - start < count, !isAtEnd { try fill() }
        return Array(buffer[start..<min(start + count, buffer.count)])
    }

    /// Leaves out so many bytes, such as a byte order mark.
    mutating func leaveOut(_ count: Int) {
        start += count
        place.byte += Int64(count)
    }

    private mutating func skip(_ count: Int) {
        leaveOut(count)
        place.line += 1
    }

    // MARK: Bytes

    private mutating func byte(_ index: Int) throws(ReadFailure) -> UInt8? {
        if index >= buffer.count { try fill(to: index) }
        return index < buffer.count ? buffer[index] : nil
    }

    /// How many bytes the line end has that is there; nil where there is none.
    private mutating func endLength(at index: Int) throws(ReadFailure) -> Int? {
        switch try byte(index) {
        case lineFeed: return 1
        case carriageReturn: return try byte(index + 1) == lineFeed ? 2 : nil
        default: return nil
        }
    }

    private mutating func fill(to index: Int) throws(ReadFailure) {
        while index >= buffer.count, !isAtEnd { try fill() }
    }

    private mutating func fill() throws(ReadFailure) {
        let piece = try more()
        isAtEnd = piece.isEmpty
        buffer += piece
    }

    /// Lets go of the lines that were read.
    private mutating func drop() {
        guard start > Self.pieceSize || start == buffer.count else { return }
        buffer.removeSubrange(..<start)
        start = 0
    }

    private var isTooLong: Bool { at - start > Self.lengthLimit }

    // MARK: CSV

    private mutating func row(_ separator: UInt8) throws(ReadFailure) -> FileLine {
        var fields: [[UInt8]] = []
        while true {
            let isQuoted = try byte(at) == quotationMark
            let (field, fault) = isQuoted ? try quoted(separator) : (try plain(separator), nil)
            if isTooLong { return try tooLong() }
            if let fault { return try faulty(fault) }
            fields.append(field)
            guard let end = try byte(at), end == separator else { break }
            at += 1
        }
        return try line(.fields(fields))
    }

    /// A quotation mark within is one like any other character.
    private mutating func plain(_ separator: UInt8) throws(ReadFailure) -> [UInt8] {
        let first = at
        while let byte = try self.byte(at), byte != separator, byte != lineFeed, !isTooLong {
            if byte == carriageReturn, try endLength(at: at) != nil { break }
            at += 1
        }
        return Array(buffer[first..<at])
    }

    private mutating func quoted(
        _ separator: UInt8
    ) throws(ReadFailure) -> ([UInt8], String?) {
        var field: [UInt8] = []
        at += 1
        while let byte = try self.byte(at), !isTooLong {
            at += 1
            guard byte == quotationMark else {
                field.append(byte)
                continue
            }
            let next = try self.byte(at)
            guard next == quotationMark else {
                let isLast = try endLength(at: at) != nil
                return next == nil || next == separator || isLast
                    ? (field, nil) : ([], "there is text behind a quoted field")
            }
            field.append(quotationMark)
            at += 1
        }
        return ([], "a quotation mark is never closed")
    }

    // MARK: JSON lines

    private mutating func jsonLine() throws(ReadFailure) -> FileLine {
        while let byte = try self.byte(at), byte != lineFeed, !isTooLong { at += 1 }
        return isTooLong ? try tooLong() : try line(.json)
    }

    // MARK: The end of a line

    /// The line up to `at`, and its end.
    private mutating func line(
        _ content: FileLine.Content
    ) throws(ReadFailure) -> FileLine {
        if try byte(at) == carriageReturn { at += 1 }
        if try byte(at) == lineFeed { at += 1 }
        return cut(content)
    }

    private mutating func cut(_ content: FileLine.Content) -> FileLine {
        let bytes = Array(buffer[start..<at])
        let number = place.line
        place.byte += Int64(bytes.count)
        place.line += bytes.count { $0 == lineFeed }
        start = at
        return FileLine(number: number, bytes: bytes, end: place, content: content)
    }

    /// What is wrong costs this line of the file, and not those that a quoted field has swallowed.
    private mutating func faulty(_ fault: String) throws(ReadFailure) -> FileLine {
        at = start
        while let byte = try self.byte(at), byte != lineFeed { at += 1 }
        return try line(.fault(fault))
    }

    private mutating func tooLong() throws(ReadFailure) -> FileLine {
        if buffer[start..<at].contains(lineFeed) {
            return try faulty("a quotation mark is never closed")
        }
        isInLongLine = true
        return cut(.fault("it is longer than \(Self.lengthLimit) bytes"))
    }

    private mutating func restOfLongLine() throws(ReadFailure) -> FileLine? {
        guard try byte(start) != nil else { return nil }
        let end = buffer[start...].firstIndex(of: lineFeed)
        at = end.map { $0 + 1 } ?? buffer.count
        isInLongLine = end == nil
        return cut(.more)
    }
}

private let lineFeed = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")
private let quotationMark = UInt8(ascii: "\"")
