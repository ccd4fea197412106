/// Why a parameter cannot be sent.
struct EncodingFault: Error {
    let sqlState: SQLState
    let message: String

    static let nulInText = EncodingFault(
        sqlState: .invalidText, message: "a text parameter holds a NUL character")
    static let timeOutOfRange = EncodingFault(
        sqlState: .timeOutOfRange, message: "a time parameter is out of range")
    static let tooLarge = EncodingFault(
        sqlState: .limitExceeded, message: "the parameters of one statement are limited to 1 GB")
    static let tooMany = EncodingFault(
        sqlState: .limitExceeded, message: "a statement has at most 65535 parameters")
    static let nulInStatement = EncodingFault(
        sqlState: .syntaxError, message: "a statement holds a NUL character")
}

/// The parameters of one statement in PostgreSQL's binary format, one after the other.
///
/// See the send and receive functions of each type, such as `array_recv` and `jsonb_recv`.
struct ParameterEncoding {
    /// The largest size that the server takes for one message, with some room for its head.
    static let limitBytes = 0x3FFF_0000

    private(set) var bytes: [UInt8] = []
    /// Where each parameter begins in `bytes`; nil is NULL.
    private(set) var offsets: [Int?] = []
    private(set) var lengths: [Int32] = []
    private(set) var types: [UInt32] = []

    /// - Throws: an `EncodingFault`, before anything is sent.
    init(
        _ values: [PostgresValue], limitBytes: Int = ParameterEncoding.limitBytes
    ) throws(EncodingFault) {
        guard values.count <= 65535 else { throw .tooMany }
        offsets.reserveCapacity(values.count)
        lengths.reserveCapacity(values.count)
        types.reserveCapacity(values.count)
        for value in values {
            let start = bytes.count
            guard value.leastSizeBytes <= limitBytes - start else { throw .tooLarge }
            types.append(value.type)
            if value == .null {
                offsets.append(nil)
                lengths.append(0)
                continue
            }
            try append(value)
            guard bytes.count <= limitBytes else { throw .tooLarge }
            offsets.append(start)
            lengths.append(Int32(bytes.count - start))
        }
    }

    private mutating func append(_ value: PostgresValue) throws(EncodingFault) {
        switch value {
        case .null: break
        case .bool(let value): append(value)
        case .int16(let value): append(value)
        case .int32(let value): append(value)
        case .int64(let value): append(value)
        case .float64(let value): append(value.bitPattern)
        case .text(let value): try append(value)
        case .bytes(let value): bytes += value
        case .timestamp(let value): try append(time: value)
        case .uuid(let value): bytes += value.bytes
        case .json(let value): try append(json: value)
        case .int16s, .int32s, .int64s, .bools, .texts, .uuids, .timestamps, .jsons:
            try appendArray(value)
        case .optionalInt64s, .optionalBools, .optionalTexts, .optionalTimestamps, .optionalBytes:
            try appendArray(value)
        }
    }

    private mutating func appendArray(_ value: PostgresValue) throws(EncodingFault) {
        switch value {
        case .int16s(let values):
            try append(values, of: TypeOID.int2) { (self, value) in self.append(value) }
        case .int32s(let values):
            try append(values, of: TypeOID.int4) { (self, value) in self.append(value) }
        case .int64s(let values):
            try append(values, of: TypeOID.int8) { (self, value) in self.append(value) }
        case .optionalInt64s(let values):
            try append(values, of: TypeOID.int8) { (self, value) in self.append(value) }
        case .bools(let values):
            try append(values, of: TypeOID.bool) { (self, value) in self.append(value) }
        case .optionalBools(let values):
            try append(values, of: TypeOID.bool) { (self, value) in self.append(value) }
        case .texts(let values):
            try append(values, of: TypeOID.text, each: Self.appendText)
        case .optionalTexts(let values):
            try append(values, of: TypeOID.text, each: Self.appendText)
        case .uuids(let values):
            try append(values, of: TypeOID.uuid) { (self, value) in self.bytes += value.bytes }
        case .timestamps(let values):
            try append(values, of: TypeOID.timestamptz, each: Self.appendTime)
        case .optionalTimestamps(let values):
            try append(values, of: TypeOID.timestamptz, each: Self.appendTime)
        case .optionalBytes(let values):
            try append(values, of: TypeOID.bytea) { (self, value) in self.bytes += value }
        case .jsons(let values):
            try append(values, of: TypeOID.jsonb, each: Self.appendJSON)
        case .null, .bool, .int16, .int32, .int64, .float64, .text, .bytes, .timestamp, .uuid,
            .json:
            break
        }
    }
}

// MARK: - Parts

extension ParameterEncoding {
    private mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes += $0 }
    }

    private mutating func append(_ value: Bool) {
        bytes.append(value ? 1 : 0)
    }

    private mutating func append(_ value: String) throws(EncodingFault) {
        let start = bytes.count
        bytes += value.utf8
        guard !bytes[start...].contains(0) else { throw .nulInText }
    }

    private mutating func append(json value: String) throws(EncodingFault) {
        // The version of the format, the only one there is.
        bytes.append(1)
        try append(value)
    }

    private mutating func append(time value: Int64) throws(EncodingFault) {
        if value == .max || value == .min {
            append(value)
            return
        }
        let (shifted, overflow) = value.subtractingReportingOverflow(microsecondsToPostgresEpoch)
        // The extremes mean infinity, so a time that lands on one cannot be said.
        guard !overflow, shifted != .min else { throw .timeOutOfRange }
        append(shifted)
    }

    private static func appendText(
        _ encoding: inout ParameterEncoding, _ value: String
    ) throws(EncodingFault) {
        try encoding.append(value)
    }

    private static func appendJSON(
        _ encoding: inout ParameterEncoding, _ value: String
    ) throws(EncodingFault) {
        try encoding.append(json: value)
    }

    private static func appendTime(
        _ encoding: inout ParameterEncoding, _ value: Int64
    ) throws(EncodingFault) {
        try encoding.append(time: value)
    }

    /// One dimension: dimensions, whether there are NULLs, element type, length, lower bound, then
    /// for each element its length, or -1 for NULL, and its bytes.
    private mutating func append<Element>(
        _ values: [Element?], of type: UInt32,
        each appendElement: (inout ParameterEncoding, Element) throws(EncodingFault) -> Void
    ) throws(EncodingFault) {
        append(Int32(values.isEmpty ? 0 : 1))
        append(Int32(values.contains { $0 == nil } ? 1 : 0))
        append(type)
        guard !values.isEmpty else { return }
        append(Int32(truncatingIfNeeded: values.count))
        append(Int32(1))
        for value in values {
            guard let value else {
                append(Int32(-1))
                continue
            }
            let lengthAt = bytes.count
            append(Int32(0))
            try appendElement(&self, value)
            let length = Int32(truncatingIfNeeded: bytes.count - lengthAt - 4)
            withUnsafeBytes(of: length.bigEndian) { big in
                for index in 0..<4 { bytes[lengthAt + index] = big[index] }
            }
        }
    }
}

extension PostgresValue {
    /// The type number that is declared with the parameter.
    var type: UInt32 {
        switch self {
        case .null: TypeOID.unspecified
        case .bool: TypeOID.bool
        case .int16: TypeOID.int2
        case .int32: TypeOID.int4
        case .int64: TypeOID.int8
        case .float64: TypeOID.float8
        case .text: TypeOID.text
        case .bytes: TypeOID.bytea
        case .timestamp: TypeOID.timestamptz
        case .uuid: TypeOID.uuid
        case .int16s: TypeOID.int2s
        case .int32s: TypeOID.int4s
        case .int64s, .optionalInt64s: TypeOID.int8s
        case .bools, .optionalBools: TypeOID.bools
        case .texts, .optionalTexts: TypeOID.texts
        case .uuids: TypeOID.uuids
        case .timestamps, .optionalTimestamps: TypeOID.timestamptzs
        case .json: TypeOID.jsonb
        case .jsons: TypeOID.jsonbs
        case .optionalBytes: TypeOID.byteas
        }
    }

    /// A lower bound of the encoded size that costs nothing to know, so that a value of many
    /// gigabytes is refused before it is copied.
    fileprivate var leastSizeBytes: Int {
        switch self {
        case .bytes(let value): value.count
        case .text(let value), .json(let value): value.utf8.count
        case .int16s(let values): values.count * 6
        case .int32s(let values): values.count * 8
        case .int64s(let values), .timestamps(let values): values.count * 12
        case .texts(let values), .jsons(let values): values.count * 4
        case .uuids(let values): values.count * 20
        case .bools(let values): values.count * 5
        case .optionalInt64s(let values), .optionalTimestamps(let values): values.count * 4
        case .optionalBools(let values): values.count * 4
        case .optionalTexts(let values): values.count * 4
        case .optionalBytes(let values): values.count * 4
        case .null, .bool, .int16, .int32, .int64, .float64, .timestamp, .uuid: 0
        }
    }
}
