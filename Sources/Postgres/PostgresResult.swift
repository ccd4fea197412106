import CPostgres

/// The rows of one statement, all in memory, in binary.
package struct PostgresResult: Sendable {
    let table: ResultTable

    /// How many rows came back.
    package var rowCount: Int { table.rowCount }

    /// How many rows an INSERT, UPDATE, DELETE, MERGE, SELECT or COPY touched; 0 for others.
    package var affectedRows: Int { table.affectedRows }

    /// The rows, in the order of the server.
    package var rows: PostgresRows { PostgresRows(table: table) }

    /// - Parameter row: from 0 to below `rowCount`.
    package subscript(row: Int) -> PostgresRow {
        precondition(row >= 0 && row < rowCount, "no such row")
        return PostgresRow(table: table, row: row)
    }
}

/// The rows of a result.
package struct PostgresRows: RandomAccessCollection, Sendable {
    let table: ResultTable

    package var startIndex: Int { 0 }
    package var endIndex: Int { table.rowCount }
    package subscript(position: Int) -> PostgresRow {
        precondition(indices.contains(position), "no such row")
        return PostgresRow(table: table, row: position)
    }
}

/// Owns a `PGresult`.
///
/// Unchecked: libpq never changes a result once `PQgetResult` has given it away, and nobody here
/// writes to it, so that any thread may read it; it is freed when the last reader is gone.
final class ResultTable: @unchecked Sendable {
    private let handle: OpaquePointer
    private let columns: [String: Int]
    private let types: [UInt32]
    private let names: [String]
    let rowCount: Int

    /// - Parameter handle: from `PQgetResult`; this object frees it.
    init(owning handle: OpaquePointer) {
        self.handle = handle
        rowCount = Int(PQntuples(handle))
        let range = 0..<PQnfields(handle)
        names = range.map { PQfname(handle, $0).map { String(cString: $0) } ?? "" }
        types = range.map { PQftype(handle, $0) }
        columns = Dictionary(
            zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    }

    deinit {
        PQclear(handle)
    }

    var status: ExecStatusType { PQresultStatus(handle) }

    /// The command tag's number, or 0.
    var affectedRows: Int {
        PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// The command tag, such as `COMMIT`.
    var commandTag: String {
        PQcmdStatus(handle).map { String(cString: $0) } ?? ""
    }

    /// The server's error report, of a result that is one.
    var report: ServerReport {
        let severity = field(Int32(UInt8(ascii: "V"))) ?? field(Int32(UInt8(ascii: "S")))
        let sqlState = field(Int32(UInt8(ascii: "C"))).map(SQLState.init(rawValue:))
        return ServerReport(
            // libpq's own reports, such as those of a lost connection, have no code.
            sqlState: sqlState ?? .connectionFailure,
            message: field(Int32(UInt8(ascii: "M"))) ?? "",
            endsConnection: severity == "FATAL" || severity == "PANIC",
            isFromServer: sqlState != nil)
    }

    private func field(_ code: Int32) -> String? {
        PQresultErrorField(handle, code).map { String(cString: $0) }
    }

    func index(of column: String) -> Int? {
        columns[column]
    }

    var columnCount: Int { names.count }

    func name(of column: Int) -> String {
        names.indices.contains(column) ? names[column] : "column \(column)"
    }

    /// The type and the bytes of one cell, nil when NULL. The bytes live as long as this object.
    func withCell<Value>(
        row: Int, column: Int, _ read: (UInt32, UnsafeRawBufferPointer?) -> Value?
    ) -> Value? {
        guard types.indices.contains(column), row >= 0, row < rowCount else { return nil }
        let (row, column32) = (Int32(row), Int32(column))
        if PQgetisnull(handle, row, column32) != 0 { return read(types[column], nil) }
        let count = Int(PQgetlength(handle, row, column32))
        let bytes = UnsafeRawBufferPointer(start: PQgetvalue(handle, row, column32), count: count)
        return read(types[column], bytes)
    }
}
