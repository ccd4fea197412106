import Renewal

/// The keys of one table: each is described by a property, and nowhere else.
///
/// What is written is read by the name of that property: `settings.engine.inFlight`.
package protocol KeyGroup: Sendable {
    static var section: ConfigurationSection { get }
    init()
}

extension KeyGroup {
    /// The section with its keys, in the order in which they are declared.
    static var described: ConfigurationSection {
        var section = section
        section.keys = Mirror(reflecting: Self()).children.compactMap {
            ($0.value as? any DescribedKey)?.key
        }
        return section
    }
}

protocol DescribedKey {
    var key: ConfigurationKey { get }
}

/// A key with the type of its value.
package struct Key<Value: Sendable>: DescribedKey, Sendable {
    let key: ConfigurationKey
    /// What holds when nothing is written; of a required key, nothing of use.
    let absent: Value
    /// Reads what was written and found in order.
    let read: @Sendable (TOMLNode, ConfigurationPlace) -> Value?
}

/// What is written in a table, or the defaults, by the names of the properties of its keys.
@dynamicMemberLookup
package struct TableValues<Keys: KeyGroup>: Hashable, Sendable {
    /// What was written and is in order.
    let fields: [String: TOMLNode]
    private let places: [String: ConfigurationPlace]

    init(_ fields: [String: TOMLNode], places: [String: ConfigurationPlace]) {
        self.fields = fields
        self.places = places
    }

    package subscript<Value>(dynamicMember path: KeyPath<Keys, Key<Value>>) -> Value {
        value(of: Keys()[keyPath: path])
    }

    func value<Value>(of key: Key<Value>) -> Value {
        let name = key.key.name
        guard let node = fields[name], let place = places[name] else { return key.absent }
        return key.read(node, place) ?? key.absent
    }
}
