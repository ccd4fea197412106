/// One row, read by the name or the index of its columns.
///
/// Each read throws `PostgresError.decoding` with the name of the column, never its value, when
/// the column is missing, is of another type, or is NULL where that is not asked for.
package struct PostgresRow: Sendable {
    let table: ResultTable
    let row: Int

    private enum Cell<Value> {
        case null
        case value(Value)
    }

    private func optional<Value>(
        at index: Int?, named column: String,
        _ decode: (UInt32, UnsafeRawBufferPointer) -> Value?
    ) throws(PostgresError) -> Value? {
        guard let index else { throw .decoding(column: column) }
        let cell: Cell<Value>? = table.withCell(row: row, column: index) { type, bytes in
            guard let bytes else { return .null }
            return decode(type, bytes).map(Cell.value)
        }
        switch cell {
        case .none: throw .decoding(column: column)
        case .null: return nil
        case .value(let value): return value
        }
    }

    private func optional<Value>(
        _ column: String, _ decode: (UInt32, UnsafeRawBufferPointer) -> Value?
    ) throws(PostgresError) -> Value? {
        try optional(at: table.index(of: column), named: column, decode)
    }

    private func required<Value>(
        _ column: String, _ decode: (UInt32, UnsafeRawBufferPointer) -> Value?
    ) throws(PostgresError) -> Value {
        guard let value = try optional(column, decode) else { throw .decoding(column: column) }
        return value
    }

    private func required<Value>(
        at index: Int, _ decode: (UInt32, UnsafeRawBufferPointer) -> Value?
    ) throws(PostgresError) -> Value {
        let name = table.name(of: index)
        guard let value = try optional(at: index, named: name, decode)
        else { throw .decoding(column: name) }
        return value
    }

    private static func integer<Value: FixedWidthInteger>(
        _ type: UInt32, _ bytes: UnsafeRawBufferPointer
    ) -> Value? {
        CellDecoding.integer(type, bytes).flatMap { Value(exactly: $0) }
    }

    private static func elements<Element>(
        _ decode: @escaping (UInt32, UnsafeRawBufferPointer) -> Element?
    ) -> (UInt32, UnsafeRawBufferPointer) -> [Element?]? {
        { _, bytes in CellDecoding.array(bytes, of: decode) }
    }

    private func array<Element>(
        _ column: String, _ decode: @escaping (UInt32, UnsafeRawBufferPointer) -> Element?
    ) throws(PostgresError) -> [Element] {
        let values = try required(column, Self.elements(decode))
        let present = values.compactMap(\.self)
        guard present.count == values.count else { throw .decoding(column: column) }
        return present
    }
}

// MARK: - Values that must be there

extension PostgresRow {
    /// `int2`, or a wider integer whose value fits.
    package func int16(_ column: String) throws(PostgresError) -> Int16 {
        try required(column, Self.integer)
    }

    /// `int2` or `int4`, or an `int8` whose value fits.
    package func int32(_ column: String) throws(PostgresError) -> Int32 {
        try required(column, Self.integer)
    }

    /// `int2`, `int4` or `int8`.
    package func int64(_ column: String) throws(PostgresError) -> Int64 {
        try required(column, CellDecoding.integer)
    }

    /// `bool`.
    package func bool(_ column: String) throws(PostgresError) -> Bool {
        try required(column, CellDecoding.bool)
    }

    /// `text`, `varchar`, `name`; also `uuid`, `json`, `jsonb` and enums as text.
    package func text(_ column: String) throws(PostgresError) -> String {
        try required(column, CellDecoding.text)
    }

    /// `bytea`.
    package func bytes(_ column: String) throws(PostgresError) -> [UInt8] {
        try required(column, CellDecoding.bytes)
    }

    /// `float4` or `float8`.
    package func float64(_ column: String) throws(PostgresError) -> Double {
        try required(column, CellDecoding.float64)
    }

    /// `timestamptz`, in microseconds since 1970-01-01 UTC. `Int64.max` is `infinity`, `Int64.min`
    /// is `-infinity`.
    package func timestamp(_ column: String) throws(PostgresError) -> Int64 {
        try required(column, CellDecoding.timestamp)
    }

    /// `text[]` and the like, without NULLs.
    package func texts(_ column: String) throws(PostgresError) -> [String] {
        try array(column, CellDecoding.text)
    }

    /// An array of integers without NULLs.
    package func int64s(_ column: String) throws(PostgresError) -> [Int64] {
        try array(column, CellDecoding.integer)
    }
}

// MARK: - Values that may be NULL

extension PostgresRow {
    /// As `int32(_:)`, nil for NULL.
    package func optionalBytes(_ column: String) throws(PostgresError) -> [UInt8]? {
        try optional(column, CellDecoding.bytes)
    }

    /// Nil is NULL.
    package func optionalInt32(_ column: String) throws(PostgresError) -> Int32? {
        try optional(column, Self.integer)
    }

    /// As `int64(_:)`, nil for NULL.
    package func optionalInt64(_ column: String) throws(PostgresError) -> Int64? {
        try optional(column, CellDecoding.integer)
    }

    /// As `bool(_:)`, nil for NULL.
    package func optionalBool(_ column: String) throws(PostgresError) -> Bool? {
        try optional(column, CellDecoding.bool)
    }

    /// As `text(_:)`, nil for NULL.
    package func optionalText(_ column: String) throws(PostgresError) -> String? {
        try optional(column, CellDecoding.text)
    }

    /// As `timestamp(_:)`, nil for NULL.
    package func optionalTimestamp(_ column: String) throws(PostgresError) -> Int64? {
        try optional(column, CellDecoding.timestamp)
    }

    /// An array of integers, nil for each NULL in it.
    package func optionalInt64s(_ column: String) throws(PostgresError) -> [Int64?] {
        try required(column, Self.elements(CellDecoding.integer))
    }
}

// MARK: - By index

extension PostgresRow {
    /// As by name. Columns count from 0.
    package func int64(_ column: Int) throws(PostgresError) -> Int64 {
        try required(at: column, CellDecoding.integer)
    }

    /// As by name. Columns count from 0.
    package func text(_ column: Int) throws(PostgresError) -> String {
        try required(at: column, CellDecoding.text)
    }

    /// As by name. Columns count from 0.
    package func isNull(_ column: Int) -> Bool {
        table.withCell(row: row, column: column) { _, bytes in bytes == nil } ?? true
    }
}
