package import Ledger
package import Renewal

/// Looks whether the stores' news is read: without it a refund is found days later.
package enum NewsCheck {
    /// Every source is read more often, when a daemon runs.
    static let staleness = Duration.hours(1)
    /// Failures in a row that do not pass by themselves at once.
    static let failureLimit = 3

    /// - Returns: one for each source that is not well, or that all are; none before the first was
    ///   read.
    package static func findings(_ sources: [QueueStatus.Source], at now: Timestamp) -> [Finding] {
        var findings: [Finding] = []
        for source in sources {
            if source.failures >= failureLimit, let problem = source.problem {
                findings.append(
                    .wrong(
                        "news", "\(source.name): \(source.failures) failures in a row: \(problem)",
                        do: "see below what the store answers; `renewald status` shows when it is "
                            + "read again", .temporary))
            } else if let readAt = source.readAt, now - readAt > staleness {
                findings.append(
                    .note(
                        "news", "\(source.name) was last read \((now - readAt).roughly) ago",
                        do: "see that a daemon runs, or `renewald once` by a timer; a source that "
                            + "is not configured any more is of no account"))
            }
        }
        guard findings.isEmpty, let oldest = sources.compactMap(\.readAt).min() else {
            return findings
        }
        return [.ok("news", "all of it was read \((now - oldest).roughly) ago or later")]
    }
}
