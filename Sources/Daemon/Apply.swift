import Configuration
import Ledger
import Logging
package import Renewal
import ServiceLifecycle

/// Decides about every purchase again under the configuration in force, from what was heard of each
/// last. Asks no store. What is decided is committed as ever: in batches, by the versions, through
/// the breaker, with its events. So it may be ended at any time and begun again, and two at once do
/// what one does. Where it is stopped, what is in hand is done and counted.
package struct Apply: Sendable {
    private let ledger: PostgresLedger
    private let rules: Rules
    private let keepsEvidence: Bool
    private let log: Logger

    /// Times that a user is decided about anew, as something else has moved a purchase meanwhile.
    private static let roundLimit = 6

    package init(_ services: Services) {
        self.init(
            services.ledger, under: services.rules,
            keepsEvidence: services.configuration.evidence.keep > .zero, log: services.log)
    }

    init(_ ledger: PostgresLedger, under rules: Rules, keepsEvidence: Bool, log: Logger) {
        self.ledger = ledger
        self.rules = rules
        self.keepsEvidence = keepsEvidence
        self.log = log
    }

    package struct Report: Hashable, Sendable {
        /// What has become of users, by the events that were written.
        package var difference = Difference()
        /// Purchases whose revocation the breaker holds.
        package var held = 0
        /// Purchases that were moved by others again and again: nothing was changed of them.
        package var left = 0
        /// Stopped before it had come to all.
        package var isPartial = false
    }

    private typealias User = (shard: Int16, userID: UserID)

    /// - Throws: what the database says. What was done until then stays so: begin again.
    package func run() async throws(LedgerError) -> Report {
        var report = Report()
        let circles = SharedCircles(try await ledger.sharedPairs())
        var last: User?
        repeat {
            guard mayGoOn(&report) else { return report }
            let page = try await ledger.keptPage(after: last, limit: WhatIf.pageLimit)
            last = page.users.last
            report.difference.note(page)
            try await apply(to: page, &report) { !circles.contains($0) }
        } while last != nil
        for users in circles.batches(of: WhatIf.pageLimit) {
            guard mayGoOn(&report) else { return report }
            try await apply(to: try await ledger.kept(of: users), &report) { _ in true }
        }
        return report
    }

    private func mayGoOn(_ report: inout Report) -> Bool {
        report.isPartial = Task.isCancelled || Task.isShuttingDownGracefully
        return !report.isPartial
    }

    private func apply(
        to page: KeptPage, _ report: inout Report, where isMeant: (UserID) -> Bool
    ) async throws(LedgerError) {
        let moving = Set(page.outcomes(under: rules).map(\.claim.purchase.userID))
        let users = page.users.filter { moving.contains($0.userID) && isMeant($0.userID) }
        if !users.isEmpty { try await apply(to: users, &report) }
    }

    private func apply(
        to users: [User], _ report: inout Report
    ) async throws(LedgerError) {
        var pending = users
        var events: [Event] = []
        var changed: Set<Int64> = []
        for round in 0...Self.roundLimit {
            let page = try await ledger.keptClaims(of: pending)
            let outcomes = page.outcomes(under: rules)
            guard let now = outcomes.map(\.claim.claimedAt).max() else { break }
            guard round < Self.roundLimit else {
                report.left += outcomes.count
                break
            }
            let step = Self.step(of: outcomes).map(withEvidence)
            let commit = try await ledger.commit(step, under: nil, at: now)
            for trip in commit.trips { log.alert(trip) }
            try commit.requireAll()
            events += commit.events
            changed.formUnion(commit.committed.map(\.claim.purchaseID))
            report.difference.sharing += commit.committed.map(\.newHolders).reduce(0, +)
            report.held += commit.committed.count { outcome in
                outcome.facts.access == .held && outcome.claim.purchase.facts.access != .held
            }
            let moving = Set(outcomes.map(\.claim.purchase.userID))
            pending = pending.filter { moving.contains($0.userID) }
        }
        report.difference.changed += changed.count
        report.difference.count(events)
    }

    /// What is committed of it now: of users with several purchases that change, what is given.
    /// Only then what is taken, so that nothing that goes from one purchase to another is lost in
    /// between.
    private static func step(of outcomes: [Outcome]) -> [Outcome] {
        Dictionary(grouping: outcomes, by: \.claim.purchase.userID).values.flatMap { own in
            guard own.count > 1, own.contains(where: \.takes) else { return own }
            let giving = own.compactMap { outcome in
                outcome.takes ? outcome.givingFirst : outcome
            }.filter(\.isChange)
            return giving.isEmpty ? own : giving
        }
    }

    private func withEvidence(_ outcome: Outcome) -> Outcome {
        guard keepsEvidence else { return outcome }
        var outcome = outcome
        outcome.evidence = Evidence(
            .verdict, heard: "no store was asked: by the configuration in force", calls: [])
        return outcome
    }
}
