import Postgres
import Renewal

// What identifies travels as text, and is compared by bytes on both sides.
extension PostgresRow {
    func text<ID: Identity>(_ column: String) throws(PostgresError) -> ID {
        ID(try text(column) as String)
    }

    func optionalText<ID: Identity>(_ column: String) throws(PostgresError) -> ID? {
        let text: String? = try optionalText(column)
        return text.map(ID.init)
    }

    func texts<ID: Identity>(_ column: String) throws(PostgresError) -> [ID] {
        let texts: [String] = try texts(column)
        return texts.map(ID.init)
    }
}

extension PostgresValue {
    static func text(_ id: some Identity) -> PostgresValue { .text(id.text) }

    static func texts(_ ids: [some Identity]) -> PostgresValue { .texts(ids.map(\.text)) }

    static func optionalTexts(_ ids: [(some Identity)?]) -> PostgresValue {
        .optionalTexts(ids.map { $0?.text })
    }
}

/// An array within an array, which `unnest` would flatten, goes as its text.
func arrayLiteral(_ ids: [some Identity]) -> String { arrayLiteral(ids.map(\.text)) }
