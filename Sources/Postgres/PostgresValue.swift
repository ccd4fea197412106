/// A parameter of a statement. It is sent in binary, with the type that the case names.
///
/// Times are microseconds since 1970-01-01 UTC; `Int64.max` stands for `infinity` and `Int64.min`
/// for `-infinity`.
package enum PostgresValue: Hashable, Sendable {
    /// NULL, of the type that the server infers.
    case null
    /// `bool`.
    case bool(Bool)
    /// `int2`.
    case int16(Int16)
    /// `int4`.
    case int32(Int32)
    /// `int8`.
    case int64(Int64)
    /// `float8`.
    case float64(Double)
    /// `text`; it must not hold a NUL character.
    case text(String)
    /// `bytea`.
    case bytes([UInt8])
    /// `timestamptz`.
    case timestamp(microsecondsSinceEpoch: Int64)
    /// `uuid`.
    case uuid(UUIDBytes)
    /// `int2[]`.
    case int16s([Int16])
    /// `int4[]`.
    case int32s([Int32])
    /// `int8[]`.
    case int64s([Int64])
    /// `bool[]`.
    case bools([Bool])
    /// `text[]`.
    case texts([String])
    /// `uuid[]`.
    case uuids([UUIDBytes])
    /// `int8[]` with NULLs.
    case optionalInt64s([Int64?])
    /// `bool[]` with NULLs.
    case optionalBools([Bool?])
    /// `text[]` with NULLs.
    case optionalTexts([String?])
    /// `timestamptz[]`, in microseconds since the epoch.
    case timestamps([Int64])
    /// `timestamptz[]` with NULLs, in microseconds since the epoch.
    case optionalTimestamps([Int64?])
    /// `bytea[]` with NULLs.
    case optionalBytes([[UInt8]?])
    /// `jsonb`, from its text.
    case json(String)
    /// `jsonb[]`, from their texts.
    case jsons([String])
}

/// The type numbers of `pg_type` that we send or read.
enum TypeOID {
    static let unspecified: UInt32 = 0
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let char: UInt32 = 18
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let oid: UInt32 = 26
    static let json: UInt32 = 114
    static let float4: UInt32 = 700
    static let float8: UInt32 = 701
    static let unknown: UInt32 = 705
    static let blankPaddedText: UInt32 = 1042
    static let varchar: UInt32 = 1043
    static let timestamptz: UInt32 = 1184
    static let uuid: UInt32 = 2950
    static let jsonb: UInt32 = 3802

    static let bools: UInt32 = 1000
    static let byteas: UInt32 = 1001
    static let names: UInt32 = 1003
    static let int2s: UInt32 = 1005
    static let int4s: UInt32 = 1007
    static let texts: UInt32 = 1009
    static let varchars: UInt32 = 1015
    static let int8s: UInt32 = 1016
    static let timestamptzs: UInt32 = 1185
    static let uuids: UInt32 = 2951
    static let jsonbs: UInt32 = 3807

    /// The first number of a type that is not built in, such as an enum.
    static let firstUserDefined: UInt32 = 16384
}

/// Microseconds from 1970-01-01 to 2000-01-01, PostgreSQL's own epoch.
let microsecondsToPostgresEpoch: Int64 = 946_684_800_000_000
