import FoundationEssentials

/// What a command prints with `--json`; `docs/json.md` describes each. The names of the keys are a
/// promise, and every key is in every object: what is not there is null.
package protocol JSONObject: Encodable {
    /// Writes each fact once, by its name in Swift: the encoder makes `next_check_at` of
    /// `nextCheckAt`.
    func write(to row: inout JSONRow)
}

extension JSONObject {
    package func encode(to encoder: any Encoder) throws {
        var row = JSONRow()
        write(to: &row)
        try row.encode(to: encoder)
    }

    /// On one line, keys in order.
    package func line() throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

/// The keys and values of one object.
@dynamicMemberLookup
package struct JSONRow {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private var fields: [(key: Key, value: (any Encodable)?)] = []

    package subscript(dynamicMember name: String) -> (any Encodable)? {
        get { fields.last { $0.key.stringValue == name }?.value }
        set { fields.append((Key(stringValue: name), newValue)) }
    }

    fileprivate func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        for (key, value) in fields {
            if let value {
                try object.encode(value, forKey: key)
            } else {
                try object.encodeNil(forKey: key)
            }
        }
    }
}
