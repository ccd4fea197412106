package import Configuration
package import Ledger
package import Renewal

/// Looks whether the stores' news is read: without it a refund is found days later.
package enum NewsCheck {
    /// Every source is read more often, when a daemon runs.
    static let staleness = Duration.hours(1)
    /// Failures in a row that do not pass by themselves at once.
    static let failureLimit = 3

    /// - Parameters:
    ///   - sources: all that were ever read.
    ///   - apps: those that are configured: of others, and of what they do not read any more,
    ///     nothing is said.
    ///   - now: the database's time.
    /// - Returns: one for each source that is not well, or that all are; none before the first was
    ///   read.
    package static func findings(
        _ sources: [QueueStatus.Source], of apps: [App], at now: Timestamp
    ) -> [Finding] {
        let dropped = Set(apps.filter { !$0.readsNotifications }.map(\.notifications))
        let known = apps.map { "\($0.key.store.rawValue) \($0.key.id) " }
        let sources = sources.filter { source in
            !dropped.contains(source.name.text) && known.contains(where: source.name.text.hasPrefix)
        }
        var findings: [Finding] = []
        for source in sources {
            if source.failures >= failureLimit, let problem = source.problem {
                findings.append(
                    .wrong(
                        "news", "\(source.name): \(source.failures) failures in a row: \(problem)",
                        do: "the store's own lines below say more; `renewald status` shows when "
                            + "the source was last read", .temporary))
            } else if let readAt = source.readAt, now - readAt > staleness {
                findings.append(
                    .note(
                        "news", "\(source.name) was last read \((now - readAt).roughly) ago",
                        do: "check that a daemon runs, or `renewald once` by a timer"))
            } else if source.isSilent {
                findings.append(
                    .note(
                        "news", "nothing has come from \(source.name) within a month",
                        do: "let the store's console send a test notification, and check that it "
                            + "sends to what is configured here; ignore it where nobody has bought "
                            + "or renewed since"))
            }
        }
        guard findings.isEmpty, let oldest = sources.compactMap(\.readAt).min() else {
            return findings
        }
        return [.ok("news", "every source was read within the last \((now - oldest).roughly)")]
    }

    /// - Returns: one for all types that this version does not know; none for those that are known
    ///   to be of no use.
    package static func findings(_ unhandled: [QueueStatus.Unhandled]) -> [Finding] {
        let strange = unhandled.filter { !$0.isExpected }
        guard !strange.isEmpty else { return [] }
        var named = strange.prefix(namedLimit).map { "\($0.type) (\($0.source), \($0.count))" }
        if strange.count > namedLimit { named.append("\(strange.count - namedLimit) more") }
        return [
            .note(
                "news", "nobody handles news of: \(named.joined(separator: ", "))",
                do: "look up what the store says of it, and whether a newer renewald handles it; "
                    + "renewald.unhandled_news shows when it came")
        ]
    }

    private static let namedLimit = 10
}

extension App {
    /// The name of the source of its store's notifications.
    fileprivate var notifications: String { "\(key.store.rawValue) \(key.id) notifications" }
}
