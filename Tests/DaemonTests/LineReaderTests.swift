import Sockets
import Testing

@testable import Daemon

/// A file taken apart, whatever is wrong with it.
@Suite struct LineReaderTests {
    /// `N: a|b` are the fields of line N, `N! reason` is what is wrong with it.
    private static let table: [(text: String, lines: [String])] = [
        ("", []),
        ("a,b\n1,2\n", ["1: a|b", "2: 1|2"]),
        ("a,b\r\n1,2\r\n", ["1: a|b", "2: 1|2"]),
        ("a,b\n1,2", ["1: a|b", "2: 1|2"]),
        ("\n\n a,b\n\r\n1,2\n\n", ["3:  a|b", "5: 1|2"]),
        ("a,\n,b\n,\n", ["1: a|", "2: |b", "3: |"]),
        (#""a","b,c","d""e""# + "\n", [#"1: a|b,c|d"e"#]),
        (#""a\#nb\#r\#nc",d"# + "\n1,2\n", ["1: a\nb\r\nc|d", "4: 1|2"]),
        (#""","""""# + "\n", [#"1: |""#]),
        ("a\rb,c\n", ["1: a\rb|c"]),
        (#"5" disk,b"# + "\n", [#"1: 5" disk|b"#]),
        // One line is lost, and no more.
        (#""a"b,c"# + "\n1,2\n", ["1! there is text behind a quoted field", "2: 1|2"]),
        (#"a,"b"# + "\n1,2\n3,4", ["1! a quotation mark is never closed", "2: 1|2", "3: 3|4"]),
        (
            #""a,b"# + "\n" + #""c",d"# + "\n1,2\n",
            ["1! there is text behind a quoted field", "2: c|d", "3: 1|2"]
        ),
        ("\"", ["1! a quotation mark is never closed"]),
    ]

    private func read(
        _ bytes: [UInt8], _ format: LineReader.Format, pieces: Int
    ) throws -> [FileLine] {
        var rest = bytes[...]
        var reader = LineReader(format) {
            defer { rest = rest.dropFirst(pieces) }
            return Array(rest.prefix(pieces))
        }
        var lines: [FileLine] = []
        while let line = try reader.next() { lines.append(line) }
        return lines
    }

    private func words(_ line: FileLine) -> String {
        switch line.content {
        case .fields(let fields):
            "\(line.number): "
                + fields.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|")
        case .json: "\(line.number): json"
        case .fault(let reason): "\(line.number)! \(reason)"
        case .more: "\(line.number)+"
        }
    }

    @Test(arguments: [1, 2, 3, 7, 1 << 18]) func takesAFileApart(inPiecesOf size: Int) throws {
        for (text, expected) in Self.table {
            let lines = try read(
                Array(text.utf8), .csv(separator: UInt8(ascii: ",")), pieces: size)
            #expect(lines.map(words) == expected, "\(text.debugDescription)")
        }
    }

    /// What is written to the file of bad lines is what stood there, and what is gone on behind is
    /// what comes next.
    @Test func knowsWhereEachLineEnds() throws {
        for (text, _) in Self.table {
            let bytes = Array(text.utf8)
            let lines = try read(bytes, .csv(separator: UInt8(ascii: ",")), pieces: 5)
            for (index, line) in lines.enumerated() {
                let end = Int(line.end.byte)
                #expect(Array(bytes[(end - line.bytes.count)..<end]) == line.bytes)
                let rest = try read(
                    Array(bytes[end...]), .csv(separator: UInt8(ascii: ",")), pieces: 5)
                #expect(rest.map(\.content) == lines[(index + 1)...].map(\.content))
            }
        }
    }

    @Test func aLineThatIsTooLongIsOneBadLine() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: LineReader.lengthLimit + 3_000_000)
        for mark in ["", "\"", "a,\""] {
            let bytes = Array(mark.utf8) + long + Array("\n1,2\n".utf8)
            let lines = try read(bytes, .csv(separator: UInt8(ascii: ",")), pieces: 1 << 18)
            #expect(lines.first.map(words) == "1! it is longer than 6291456 bytes")
            #expect(lines.last.map(words) == "2: 1|2")
            #expect(lines.dropFirst().dropLast().allSatisfy { $0.content == .more })
            #expect(lines.dropLast().flatMap(\.bytes) == bytes.dropLast(4))
            #expect(lines.allSatisfy { $0.bytes.count <= LineReader.lengthLimit + 1 })
        }
    }

    /// A quotation mark that is never closed swallows no more than it may.
    @Test func anOpenQuotationMarkCostsOneLineOfAMillion() throws {
        let row = Array("user,google,app,pro,token\n".utf8)
        let count = LineReader.lengthLimit / row.count + 1000
        let bytes = Array("a,\"b\n".utf8) + (0..<count).flatMap { _ in row }
        let lines = try read(bytes, .csv(separator: UInt8(ascii: ",")), pieces: 1 << 18)
        #expect(lines.first.map(words) == "1! a quotation mark is never closed")
        #expect(lines.count == count + 1)
        #expect(lines.dropFirst().allSatisfy { $0.bytes == row })
    }

    @Test func readsJSONLines() throws {
        let lines = try read(Array("{}\n\n{\"a\":1}\r\n{".utf8), .jsonLines, pieces: 2)
        #expect(lines.map(words) == ["1: json", "3: json", "4: json"])
    }
}
