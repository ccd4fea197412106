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

        package init(left: Int = 0) { self.left = left }

        static func += (whole: inout Report, part: Report) {
            whole.released += part.released
            whole.dropped += part.dropped
            whole.left += part.left
        }
    }

    /// Asks the stores about each purchase once more, within their quota: what a fresh answer
    /// confirms is let go, who is in force again is dropped without an event. Of users whose turn
    /// has not come when the command is stopped nothing is asked: what is held of them stays so.
    ///
    /// - Throws: what the database says. What was let go until then stays so: begin again.
    package func run() async throws(LedgerError) -> Report {
        let users = Dictionary(grouping: held, by: \.userID).sorted { $0.key < $1.key }
        typealias Part = Result<Report, LedgerError>
        let parts = await withTaskGroup(of: Part.self) { tasks in
            var parts: [Part] = []
            for (index, (user, rows)) in users.enumerated() {
                if index >= Self.atOnce, let part = await tasks.next() { parts.append(part) }
                tasks.addTask {
                    do throws(LedgerError) {
                        return .success(try await release(rows, of: user))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            for await part in tasks { parts.append(part) }
            return parts
        }
        var report = Report()
        for part in parts { report += try part.get() }
        return report
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
    package func discard() async throws(LedgerError) -> Report {
        var report = Report()
        for (user, rows) in Dictionary(grouping: held, by: \.userID).sorted(by: { $0.key < $1.key })
        {
            guard !Task.isShuttingDownGracefully else {
                report.left += rows.count
                continue
            }
            let purchases = Set(rows.map(\.purchaseID))
            let claims = try await services.ledger.purchases(ofUser: user).claims.filter {
                purchases.contains($0.purchase.id) && $0.purchase.facts.access == .held
            }
            guard let now = claims.map(\.claimedAt).max() else {
                report.left += rows.count
                continue
            }
            let commit = try await services.ledger.commit(
                claims.map { discardHold(of: $0, at: now, under: services.rules) }, under: nil,
                at: now)
            try commit.requireAll()
            let done = Set(commit.committed.map(\.claim.purchaseID))
            for row in rows {
                if done.contains(row.purchaseID) { report.dropped += 1 } else { report.left += 1 }
            }
        }
        return report
    }
}
