import Renewal

/// What of a changed configuration holds at once, and what only after a restart.
enum Reload {
    /// Settings that take effect at a reload. Tables with a repeated header always do.
    private static let live: Set<String> = [
        "policy.grace", "policy.payment_pending", "policy.leniency", "policy.sandbox",
        "policy.offers", "policy.refund", "policy.shared", "safety.confirm_after",
        "safety.successor_wait", "safety.max_staleness", "engine.in_flight", "engine.poll",
        "engine.lease", "engine.stop_limit",
    ]

    static func isLive(_ key: ConfigurationKey, in section: ConfigurationSection) -> Bool {
        section.repeats || section.path.first == "store"
            || live.contains("\(section.name).\(key.name)")
    }

    /// The names of changed settings that have to wait for a restart, in the order of
    /// `etc/renewald.toml`.
    static func waitingForRestart(from old: Configuration, to new: Configuration) -> [String] {
        var names: [String] = []
        for section in ConfigurationSection.all {
            for key in section.keys where !isLive(key, in: section) {
                let name = "\(section.name).\(key.name)"
                if old.value(of: key, in: section) != new.value(of: key, in: section) {
                    names.append(name)
                } else if name == "database.url", old.database != new.database {
                    // It is kept elsewhere, and has changed there.
                    names.append(name)
                }
            }
        }
        return names
    }
}

extension Configuration {
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
