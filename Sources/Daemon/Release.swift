import Configuration
package import Ledger
package import Renewal
import ServiceLifecycle

/// Lets go the revocations that the breaker holds, or drops them.
package struct Release: Sendable {
    private let services: Services
    /// What is to be let go, as it was shown.
    private let held: [HeldRevocation]

    /// Users who are asked about at once.
    private static let atOnce = 16

    package init(_ services: Services, of held: [HeldRevocation]) {
        self.services = services
        self.held = held
    }

    /// What became of what was held, in rows of `renewald.held`.
    package struct Report: Hashable, Sendable {
        package var released = 0
        /// In force again by a fresh answer, or dropped unasked.
        package var dropped = 0
        /// Could not be asked about, or has moved meanwhile: held on.
        package var left = 0
        /// The first trouble with the database. Of what is left then, some may be let go.
        package var trouble: LedgerError?

        package init(left: Int = 0, trouble: LedgerError? = nil) {
            (self.left, self.trouble) = (left, trouble)
        }

        static func += (whole: inout Report, part: Report) {
            whole.released += part.released
            whole.dropped += part.dropped
            whole.left += part.left
            whole.trouble = whole.trouble ?? part.trouble
        }
    }

    /// Asks the stores about each purchase once more, within their quota: what a fresh answer
    /// confirms is let go, who is in force again is dropped without an event. Of users whose turn
    /// has not come when the command is stopped, or the database is in the way, nothing is asked:
    /// what is held of them stays so.
    package func run() async -> Report {
        await withTaskGroup(of: Report.self) { tasks in
            var report = Report()
            for (index, (user, rows)) in users.enumerated() {
                if index >= Self.atOnce, let part = await tasks.next() { report += part }
                guard report.trouble == nil else {
                    report.left += rows.count
                    continue
                }
                tasks.addTask {
                    await Self.counting(rows) { () throws(LedgerError) in
                        try await release(rows, of: user)
                    }
                }
            }
            for await part in tasks { report += part }
            return report
        }
    }

    private var users: [(key: UserID, value: [HeldRevocation])] {
        Dictionary(grouping: held, by: \.userID).sorted { $0.key < $1.key }
    }

    /// What became of one user's rows, also where the database was in the way.
    private static func counting(
        _ rows: [HeldRevocation], _ body: () async throws(LedgerError) -> Report
    ) async -> Report {
        do throws(LedgerError) {
            return try await body()
        } catch {
            return Report(left: rows.count, trouble: error)
        }
    }

    private func release(
        _ rows: [HeldRevocation], of user: UserID
    ) async throws(LedgerError) -> Report {
        guard !Task.isShuttingDownGracefully else { return Report(left: rows.count) }
        let check = UserCheck(services, isDryRun: false, releasing: Set(rows.map(\.purchaseID)))
        let checked = try await check.run(user: user)
        if let trouble = checked.trouble { throw trouble }
        let decided = Dictionary(
            checked.purchases.filter(\.isDecided).map { ($0.claim.purchaseID, $0.facts) },
            uniquingKeysWith: { first, _ in first })
        var report = Report()
        for row in rows {
            guard let facts = decided[row.purchaseID], facts.access != .held else {
                report.left += 1
                continue
            }
            let gives = facts.holdings.contains { $0.entitlement == row.entitlement }
            if gives { report.dropped += 1 } else { report.released += 1 }
        }
        return report
    }

    /// Drops what is held, unasked: the purchases give access as before, and are asked about again
    /// soon.
    package func discard() async -> Report {
        var report = Report()
        for (user, rows) in users {
            guard report.trouble == nil, !Task.isShuttingDownGracefully else {
                report.left += rows.count
                continue
            }
            report += await Self.counting(rows) { () throws(LedgerError) in
                try await discard(rows, of: user)
            }
        }
        return report
    }

    private func discard(
        _ rows: [HeldRevocation], of user: UserID
    ) async throws(LedgerError) -> Report {
        let purchases = Set(rows.map(\.purchaseID))
        let claims = try await services.ledger.purchases(ofUser: user).claims.filter {
            purchases.contains($0.purchase.id) && $0.purchase.facts.access == .held
        }
        guard let now = claims.map(\.claimedAt).max() else { return Report(left: rows.count) }
        let commit = try await services.ledger.commit(
            claims.map { discardHold(of: $0, at: now, under: services.rules) }, under: nil,
            at: now)
        try commit.requireAll()
        let done = Set(commit.committed.map(\.claim.purchaseID))
        var report = Report(left: rows.count { !done.contains($0.purchaseID) })
        report.dropped = rows.count - report.left
        return report
    }
}
