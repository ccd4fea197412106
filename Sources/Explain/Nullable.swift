/// A value that JSON shows as null where there is none, instead of leaving the key out: a consumer
/// finds every key in every object.
package struct Nullable<Value: Encodable>: Encodable {
    private let value: Value?

    package init(_ value: Value?) {
        self.value = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}
