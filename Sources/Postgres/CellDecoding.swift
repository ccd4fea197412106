/// Reads of PostgreSQL's binary formats. Each gives nil where the type or the length is not what
/// the format says.
enum CellDecoding {
    typealias Bytes = UnsafeRawBufferPointer

    static func integer(_ type: UInt32, _ bytes: Bytes) -> Int64? {
        switch (type, bytes.count) {
        case (TypeOID.int2, 2): Int64(Int16(truncatingIfNeeded: bigEndian(bytes)))
        case (TypeOID.int4, 4): Int64(Int32(truncatingIfNeeded: bigEndian(bytes)))
        case (TypeOID.int8, 8): Int64(bitPattern: bigEndian(bytes))
        case (TypeOID.oid, 4): Int64(bigEndian(bytes))
        default: nil
        }
    }

    static func bool(_ type: UInt32, _ bytes: Bytes) -> Bool? {
        type == TypeOID.bool && bytes.count == 1 ? bytes[0] != 0 : nil
    }

    static func float64(_ type: UInt32, _ bytes: Bytes) -> Double? {
        switch (type, bytes.count) {
        case (TypeOID.float8, 8): Double(bitPattern: bigEndian(bytes))
        case (TypeOID.float4, 4):
            Double(Float(bitPattern: UInt32(truncatingIfNeeded: bigEndian(bytes))))
        default: nil
        }
    }

    /// Microseconds since 1970; the infinities are the extremes of `Int64`.
    static func timestamp(_ type: UInt32, _ bytes: Bytes) -> Int64? {
        guard type == TypeOID.timestamptz, bytes.count == 8 else { return nil }
        let value = Int64(bitPattern: bigEndian(bytes))
        if value == .max || value == .min { return value }
        let (shifted, overflow) = value.addingReportingOverflow(microsecondsToPostgresEpoch)
        return overflow ? nil : shifted
    }

    static func uuid(_ type: UInt32, _ bytes: Bytes) -> UUIDBytes? {
        type == TypeOID.uuid ? UUIDBytes(bytes: [UInt8](bytes)) : nil
    }

    /// The text types, and also `uuid`, `json`, `jsonb` and enums as their text.
    static func text(_ type: UInt32, _ bytes: Bytes) -> String? {
        switch type {
        case TypeOID.text, TypeOID.varchar, TypeOID.name, TypeOID.blankPaddedText, TypeOID.json,
            TypeOID.unknown, TypeOID.char, TypeOID.firstUserDefined...:
            String(validating: bytes, as: UTF8.self)
        case TypeOID.jsonb:
            bytes.first == 1
                ? String(validating: Bytes(rebasing: bytes.dropFirst()), as: UTF8.self) : nil
        case TypeOID.uuid:
            uuid(type, bytes)?.description
        default: nil
        }
    }

    static func bytes(_ type: UInt32, _ bytes: Bytes) -> [UInt8]? {
        type == TypeOID.bytea ? [UInt8](bytes) : nil
    }

    /// A one-dimensional array; the inner optionals are its NULLs.
    static func array<Element>(
        _ bytes: Bytes, of element: (UInt32, Bytes) -> Element?
    ) -> [Element?]? {
        var reader = Reader(bytes: bytes)
        guard let dimensions = reader.int32(), reader.int32() != nil,
            let type = reader.int32().map(UInt32.init(bitPattern:))
        else { return nil }
        if dimensions == 0 { return [] }
        guard dimensions == 1, let count = reader.int32(), count >= 0, reader.int32() != nil
        else { return nil }
        var values: [Element?] = []
        values.reserveCapacity(min(Int(count), bytes.count / 4))
        for _ in 0..<count {
            guard let length = reader.int32() else { return nil }
            if length == -1 {
                values.append(nil)
                continue
            }
            guard let part = reader.take(Int(length)), let value = element(type, part)
            else { return nil }
            values.append(value)
        }
        return values
    }

    private static func bigEndian(_ bytes: Bytes) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private struct Reader {
        var bytes: Bytes

        mutating func take(_ count: Int) -> Bytes? {
            guard count >= 0, count <= bytes.count else { return nil }
            defer { bytes = Bytes(rebasing: bytes.dropFirst(count)) }
            return Bytes(rebasing: bytes.prefix(count))
        }

        mutating func int32() -> Int32? {
            take(4).map { Int32(truncatingIfNeeded: CellDecoding.bigEndian($0)) }
        }
    }
}
