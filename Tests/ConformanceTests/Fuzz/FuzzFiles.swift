import Renewal

@testable import Daemon

/// Files to be imported, as people have made them.
extension FuzzTargets {
    static func files() throws -> [FuzzTarget] {
        var csv: [[UInt8]] = []
        for end in ["\n", "\r\n", ""] {
            csv += [
                "ann,google,com.example,pro,token,\(end)bob,apple,com.example,pro,1000,\(end)",
                #""a, ""b""","google","com.example","pro\#nmore","token","amzn"\#(end)"#,
            ].map { Array($0.utf8) }
        }
        let json = [
            #"{"user_id": "ann", "store": "google", "app": "a", "product": "p", "token": "t"}"#,
            #"{"user_id": 17, "token": "\u00e9\ud83d\ude00", "store_user_id": null, "more": [{}]}"#,
        ].map { Array("\($0)\n\($0)\n".utf8) }
        let columns = ImportColumns()
        let row = ImportLine(
            columns: columns, places: try columns.places(in: ImportField.allCases.map(\.rawValue)),
            width: ImportField.allCases.count)
        return [
            FuzzTarget(name: "CSV files", seeds: csv) { input, _ in
                try read(input, .csv(separator: UInt8(ascii: ",")), row)
            },
            FuzzTarget(name: "JSON lines", seeds: json) { input, _ in
                try read(input, .jsonLines, ImportLine(columns: columns))
            },
        ]
    }

    /// Every byte is in one line, in its place; whether every line has a purchase.
    private static func read(
        _ input: [UInt8], _ format: LineReader.Format, _ form: ImportLine
    ) throws -> Bool {
        var rest = input[...]
        let pieces = 1 + input.count % 61
        var reader = LineReader(format) {
            defer { rest = rest.dropFirst(pieces) }
            return Array(rest.prefix(pieces))
        }
        var (end, isFine) = (0, true)
        while let line = try reader.next() {
            let next = Int(line.end.byte)
            let start = next - line.bytes.count
            guard start >= end, next > start, next <= input.count,
                Array(input[start..<next]) == line.bytes,
                input[end..<start].allSatisfy({ $0 == 0x0a || $0 == 0x0d }),
                line.end.line == 1 + input[..<next].count(where: { $0 == 0x0a })
            else { throw FuzzTarget.Broken(description: "a line is not where it stands") }
            end = next
            let purchase = try? form.purchase(line.content, line.bytes)
            isFine = isFine && purchase != nil
            for field in ImportField.allCases
            where purchase?[field]?.utf8.contains(0) == true {
                throw FuzzTarget.Broken(description: "a NUL goes to the database")
            }
        }
        guard input[end...].allSatisfy({ $0 == 0x0a || $0 == 0x0d }) else {
            throw FuzzTarget.Broken(description: "the end was not read")
        }
        return isFine
    }
}
