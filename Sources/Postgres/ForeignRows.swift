/// A query of somebody else's, read page by page.
extension PostgresConnection {
    /// Runs one query through a cursor, in a read-only transaction that is taken back in the end.
    /// The server refuses a second statement, whatever writes, and what is no query.
    ///
    /// - Parameters:
    ///   - query: of somebody else's; a semicolon or a comment may follow.
    ///   - pageLimit: rows that are in memory at once.
    ///   - take: gets the rows as text, page by page; at least one page, which names the columns.
    /// - Throws: what the server says, and what `take` throws.
    package func read(
        _ query: String, pageLimit: Int,
        _ take: @escaping @Sendable (ForeignPage) async throws -> Void
    ) async throws {
        do {
            try await transaction { connection in
                for sql in [
                    "SET TRANSACTION READ ONLY",
                    "DECLARE renewald_rows NO SCROLL CURSOR FOR\n\(query)",
                ] {
                    try await connection.query(PostgresStatement(sql, isReadOnly: true))
                }
                var next = PostgresStatement(
                    "FETCH FORWARD \(pageLimit) FROM renewald_rows", isReadOnly: true)
                next.givesText = true
                var count = pageLimit
                while count == pageLimit {
                    let page = ForeignPage(table: try await connection.query(next).table)
                    count = page.count
                    try await take(page)
                }
                throw ReadToTheEnd()
            }
        } catch is ReadToTheEnd {
            return
        }
    }
}

/// What a transaction ends with that is to be taken back.
private struct ReadToTheEnd: Error {}

/// Rows of a query whose columns and types nobody knows before.
package struct ForeignPage: Sendable {
    let table: ResultTable

    /// How many rows there are.
    package var count: Int { table.rowCount }

    /// The names of the columns, in their order.
    package var columns: [String] { (0..<table.columnCount).map(table.name) }

    /// A value as PostgreSQL prints it; nil is NULL. What pads a `char(n)` is left out.
    ///
    /// - Parameters:
    ///   - row: from 0 to below `count`.
    ///   - column: its place.
    /// - Returns: its bytes, in UTF-8 where the database's own encoding is a known one.
    package func value(_ row: Int, _ column: Int) -> [UInt8]? {
        table.withCell(row: row, column: column) { type, bytes in
            guard let bytes else { return nil }
            guard type == TypeOID.blankPaddedText else { return [UInt8](bytes) }
            let end = bytes.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
            return [UInt8](bytes[..<end])
        }
    }
}
