import FoundationEssentials
import Renewal

/// JSON in and out, with errors that name the wrong field and never its content.
enum JSON {
    /// - Throws: `.malformed`, with the path to the field that is missing or of another type, or
    ///   `body` when the whole is not JSON.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: some Sequence<UInt8>, calling whole: String = "body"
    ) throws(StoreFailure) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw .malformed(field: field(of: error, whole: whole))
        } catch {
            throw .malformed(field: whole)
        }
    }

    private static func field(of error: DecodingError, whole: String) -> String {
        switch error {
        case .keyNotFound(let key, let context):
            path(context.codingPath + [key], whole: whole)
        case .valueNotFound(_, let context), .typeMismatch(_, let context),
            .dataCorrupted(let context):
            path(context.codingPath, whole: whole)
        @unknown default:
            whole
        }
    }

    /// The keys are those of our own types, so nothing that was sent can appear here.
    private static func path(_ keys: [any CodingKey], whole: String) -> String {
        guard !keys.isEmpty else { return whole }
        return keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
            .joined(separator: ".")
    }

    /// Members are written in alphabetical order. Slashes stay as they are.
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value))
        } catch {
            preconditionFailure("a structure of strings and integers can always be written")
        }
    }
}

/// A member of which only the presence counts: `{}`, and `[]` where PHP has been at work.
struct Presence: Decodable, Hashable, Sendable {
    init(from decoder: any Decoder) {}
}

/// An integer that nothing depends on: nil where it is anything else.
struct LooseInteger: Decodable, Hashable, Sendable {
    let value: Int64?

    init(from decoder: any Decoder) {
        value = (try? LenientInteger(from: decoder))?.value
    }
}

/// A switch that some senders write as text.
struct LenientFlag: Decodable, Hashable, Sendable {
    let value: Bool

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            value = flag
        } else if let text = try? container.decode(String.self), let flag = Bool(text) {
            value = flag
        } else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "neither true nor false, nor one in quotes")
        }
    }
}

/// A text that nothing depends on: nil where it is empty or anything else.
struct LooseText: Decodable, Hashable, Sendable {
    let value: String?

    init(from decoder: any Decoder) {
        let text = try? decoder.singleValueContainer().decode(String.self)
        value = text.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// What may still change its shape, or is only announced: nil where it has another one, and the
/// rest of the answer counts.
struct Tolerant<Value: Decodable & Sendable>: Decodable, Sendable {
    let value: Value?

    init(from decoder: any Decoder) throws {
        value = try? decoder.singleValueContainer().decode(Value.self)
    }
}

extension Tolerant: Equatable where Value: Equatable {}
extension Tolerant: Hashable where Value: Hashable {}

/// Epoch milliseconds, or another integer, that some senders write as a float or as text.
struct LenientInteger: Decodable, Hashable, Sendable {
    let value: Int64

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let integer = try? container.decode(Int64.self) {
            value = integer
        } else if let text = try? container.decode(String.self), let integer = Int64(text) {
            value = integer
        } else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "neither an integer nor one in quotes")
        }
    }
}
