import Renewal

// How the core's values are written as JSON: times as `2026-02-01T00:00:00Z`, words as they are in
// the database.

extension Timestamp: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(text)
    }
}

extension Store: Encodable {}
extension StoreEnvironment: Encodable {}
extension ProductKind: Encodable {}
extension PurchaseState: Encodable {}
extension Access: Encodable {}
extension Evidence.Kind: Encodable {}
