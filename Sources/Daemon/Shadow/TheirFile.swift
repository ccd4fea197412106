import Ledger
import Sockets

/// What another system believes, as CSV with a header: read as `import` reads it.
struct TheirFile {
    private var reader: LineReader
    private let columns: TheirColumns

    private static let pieceSize = 1 << 18
    private static let headLimit = 1 << 16
    private static let pageLimit = 2000

    /// - Parameter input: at its beginning.
    /// - Throws: `ReadFailure`, and `ShadowStop` when it is of no use.
    init(_ input: InputBytes) throws {
        var reader = LineReader(.csv(separator: UInt8(ascii: ","))) { () throws(ReadFailure) in
            try input.read(atMost: Self.pieceSize)
        }
        var head = try reader.peek(Self.headLimit)[...]
        do throws(ImportFault) {
            try ImportFile.requireText(head)
        } catch {
            throw ShadowStop.data(error.reason)
        }
        if head.starts(with: [0xef, 0xbb, 0xbf]) {
            head = head.dropFirst(3)
            reader.leaveOut(3)
        }
        reader.format = .csv(separator: ImportFile.separator(of: head))
        guard let top = try reader.next(), case .fields(let names) = top.content else {
            throw ShadowStop.data(
                "it is empty, or its first line is no header: it begins with "
                    + "user_id,entitlement,active")
        }
        columns = try TheirColumns(names.map { String(decoding: $0, as: UTF8.self) })
        self.reader = reader
    }

    /// The next rows; none at the end.
    ///
    /// - Throws: `ReadFailure`, and `ShadowStop` for a line that is wrong.
    mutating func next() throws -> [TheirRow] {
        var rows: [TheirRow] = []
        while rows.count < Self.pageLimit, let line = try reader.next() {
            switch line.content {
            case .fields(let fields):
                guard fields.count == columns.width else {
                    throw ShadowStop.data(
                        "line \(line.number): it has \(fields.count) fields, and the header has "
                            + "\(columns.width)")
                }
                // CSV has no other word for NULL.
                rows.append(
                    try columns.row(Int64(line.number), "line") { place in
                        fields[place].isEmpty ? nil : fields[place]
                    })
            case .fault(let reason): throw ShadowStop.data("line \(line.number): \(reason)")
            case .json, .more: throw ShadowStop.data("line \(line.number): it is too long")
            }
        }
        return rows
    }
}
