import Renewal

/// What of a changed configuration holds at once, and what only after a restart.
package enum Reload {
    /// Names that a line of the log shows at most.
    private static let namedLimit = 20

    /// What is written otherwise than before, by name and never by value: settings, apps, products.
    package static func changes(from old: Settings, to new: Settings) -> String {
        var names: [String] = []
        for section in ConfigurationSection.all where !section.repeats {
            for key in section.keys {
                let isChanged = isChanged(key, in: section, from: old, to: new)
                let isElsewhere = section.name == "database" && old.database != new.database
                if isChanged || isElsewhere { names.append("\(section.name).\(key.name)") }
            }
        }
        names += changes(of: "app", by: ["store", "id"], from: old, to: new)
        names += changes(of: "product", by: ["id"], from: old, to: new)
        guard !names.isEmpty else { return "no setting has changed" }
        let more = names.count - namedLimit
        return "changed: " + names.prefix(namedLimit).joined(separator: ", ")
            + (more > 0 ? " and \(more) more" : "")
    }

    private static func changes(
        of table: String, by keys: [String], from old: Settings, to new: Settings
    ) -> [String] {
        let before = old.elements(of: table, by: keys)
        let after = new.elements(of: table, by: keys)
        return Set(before.keys).union(after.keys).sorted().compactMap { name in
            let change: String? =
                switch (before[name], after[name]) {
                case (nil, _): " (new)"
                case (_, nil): " (gone)"
                case (let before?, let after?): before.literal == after.literal ? nil : ""
                }
            return change.map { "[[\(table)]] \(name)\($0)" }
        }
    }

    /// The names of changed settings that have to wait for a restart, in the order of
    /// `etc/renewald.toml`.
    package static func waitingForRestart(
        from old: Settings, to new: Settings
    ) -> [String] {
        var names: [String] = []
        for section in ConfigurationSection.all {
            for key in section.keys where key.effect == .restart {
                let name = "\(section.name).\(key.name)"
                if isChanged(key, in: section, from: old, to: new) {
                    names.append(name)
                } else if name == "database.url", old.database != new.database {
                    // It is kept elsewhere, and has changed there.
                    names.append(name)
                }
            }
        }
        return names
    }

    /// 40 and 40.0 are the same.
    private static func isChanged(
        _ key: ConfigurationKey, in section: ConfigurationSection, from old: Settings,
        to new: Settings
    ) -> Bool {
        old.value(of: key, in: section)?.literal != new.value(of: key, in: section)?.literal
    }
}

extension Settings {
    /// What is written in the tables of that name, by the words that tell them apart.
    fileprivate func elements(of table: String, by keys: [String]) -> [String: TOMLNode] {
        guard case .array(let nodes)? = written[table] else { return [:] }
        let named: [(String, TOMLNode)] = nodes.compactMap { node in
            guard case .table(let fields) = node else { return nil }
            let words = keys.compactMap { key -> String? in
                if case .string(let word)? = fields[key] { word } else { nil }
            }
            return (words.joined(separator: " "), node)
        }
        return Dictionary(named) { first, _ in first }
    }

    /// What is written, or the default.
    fileprivate func value(
        of key: ConfigurationKey, in section: ConfigurationSection
    ) -> TOMLNode? {
        var fields = written
        for name in section.path {
            guard case .table(let inner)? = fields[name] else {
                fields = [:]
                break
            }
            fields = inner
        }
        if let node = fields[key.name] { return node }
        guard case .byDefault(let literal) = key.presence else { return nil }
        return literal.node
    }
}
