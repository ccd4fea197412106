import Crypto
import Sockets

/// A file to be imported: what it is, where its lines begin, how they are read.
struct ImportFile {
    var reader: LineReader
    let line: ImportLine
    /// As it stands; empty of JSON lines.
    let header: [UInt8]

    private static let pieceSize = 1 << 18
    /// How much is looked at to see what it is.
    private static let headLimit = 1 << 16

    /// - Parameters:
    ///   - input: at its beginning.
    ///   - columns: where what is found.
    /// - Throws: `ReadFailure`, and `ImportFault` when it is of no use.
    init(_ input: InputBytes, _ columns: ImportColumns) throws {
        reader = LineReader(.jsonLines) { () throws(ReadFailure) in
            try input.read(atMost: Self.pieceSize)
        }
        var head = try reader.peek(Self.headLimit)[...]
        try Self.requireText(head)
        if head.starts(with: [0xef, 0xbb, 0xbf]) {
            head = head.dropFirst(3)
            reader.leaveOut(3)
        }
        let first = head.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
        if first == UInt8(ascii: "[") {
            throw ImportFault(
                "it is one JSON array, and not a JSON object a line: jq -c '.[]' makes those of it")
        }
        guard first != nil, first != UInt8(ascii: "{") else {
            line = ImportLine(columns: columns)
            header = []
            return
        }
        reader.format = .csv(separator: Self.separator(of: head))
        guard let top = try reader.next(), case .fields(let names) = top.content else {
            throw ImportFault("its first line is no header")
        }
        header = top.bytes
        line = ImportLine(
            columns: columns,
            places: try columns.places(in: names.map { String(decoding: $0, as: UTF8.self) }),
            width: names.count)
    }

    /// Goes on behind the lines that were taken in before. Only within a line that is too long does
    /// a batch end without a line end.
    mutating func go(_ input: InputBytes, to place: FileLine.Place) throws(ReadFailure) {
        try input.go(to: place.byte - 1)
        let isInLongLine = try input.read(atMost: 1) != [UInt8(ascii: "\n")]
        reader = LineReader(reader.format, from: place, isInLongLine: isInLongLine) {
            () throws(ReadFailure) in
            try input.read(atMost: Self.pieceSize)
        }
    }

    static func requireText(_ head: ArraySlice<UInt8>) throws(ImportFault) {
        if head.starts(with: [0x1f, 0x8b]) {
            throw ImportFault("it is compressed: zcat FILE | renewald import -")
        }
        if head.starts(with: [0xff, 0xfe]) || head.starts(with: [0xfe, 0xff]) {
            throw ImportFault("it is UTF-16: iconv -f utf-16 -t utf-8 FILE | renewald import -")
        }
        try requireLineFeeds(head)
        // Its words are no names of columns, and nothing for a terminal.
        let line = head.prefix { $0 != UInt8(ascii: "\n") }
        guard line.allSatisfy({ $0 >= 0x20 || $0 == 0x09 || $0 == 0x0d }) else {
            throw ImportFault("it is no text: its first line has control characters")
        }
    }

    /// What has no line feeds would be one line, the header, with nothing to read behind it.
    private static func requireLineFeeds(_ head: ArraySlice<UInt8>) throws(ImportFault) {
        let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        let line = head.prefix { $0 != lineFeed }
        guard let end = line.firstIndex(of: carriageReturn),
            line[end...].contains(where: { $0 != carriageReturn })
        else { return }
        throw ImportFault(
            "its lines end with a carriage return alone, as on old Macs: "
                + "tr '\\r' '\\n' < FILE makes lines of it")
    }

    /// A comma, or what the header has instead: spreadsheets of many countries write a semicolon.
    static func separator(of head: ArraySlice<UInt8>) -> UInt8 {
        var counts: [UInt8: Int] = [:]
        var isQuoted = false
        // Empty lines before the header are skipped.
        let lineEnds = [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        for byte in head.drop(while: lineEnds.contains) {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: "\n"), !isQuoted { break }
            if !isQuoted { counts[byte, default: 0] += 1 }
        }
        let known = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
        return known.max { (counts[$0] ?? 0, -Int($0)) < (counts[$1] ?? 0, -Int($1)) } ?? known[0]
    }

    /// The SHA-256 of a file, which is at its beginning again afterwards.
    static func digest(of input: InputBytes) throws(ReadFailure) -> [UInt8] {
        var hash = SHA256()
        while true {
            let piece = try input.read(atMost: Self.pieceSize)
            guard !piece.isEmpty else { break }
            hash.update(data: piece)
        }
        try input.go(to: 0)
        return Array(hash.finalize())
    }
}
