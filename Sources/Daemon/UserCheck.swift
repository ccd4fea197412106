import Engine
package import Ledger
package import Renewal

/// What a check of one purchase came to.
package struct CheckedPurchase: Sendable {
    /// What was known before.
    package let claim: Claim
    package let hearing: Hearing
    package var decision: Decision
    /// Whether it was committed; false in a dry run.
    package var isCommitted = false
    package var events: [Event] = []

    /// The facts that stand now, or would stand after a dry run.
    package var facts: Facts { decision.facts }
}

/// Re-validates all purchases of one user, now, outside of any lease: the versions decide.
package struct UserCheck: Sendable {
    private let workshop: Workshop
    private let isDryRun: Bool

    /// Times that a check is made anew because the daemon has moved a purchase meanwhile.
    private static let roundLimit = 3
    /// Most purchases of one user asked about at once.
    private static let atOnce = 8

    package init(_ workshop: Workshop, isDryRun: Bool) {
        self.workshop = workshop
        self.isDryRun = isDryRun
        workshop.desk.beforeExtraCalls { app in await Self.waitForCall(app, workshop) }
    }

    /// - Returns: one for each purchase, oldest first; none for an unknown user.
    package func run(user: UserID) async throws(LedgerError) -> [CheckedPurchase] {
        var done: [Int64: CheckedPurchase] = [:]
        for _ in 0..<Self.roundLimit {
            let claims = try await workshop.ledger.claims(ofUser: user, includingClaimed: true)
                .filter { done[$0.purchase.id] == nil }
            guard !claims.isEmpty else { break }
            for checked in try await commit(await ask(claims)) where checked.isCommitted {
                done[checked.claim.purchase.id] = checked
            }
            if isDryRun { break }
        }
        return done.values.sorted { $0.claim.purchase.id < $1.claim.purchase.id }
    }

    private func ask(_ claims: [Claim]) async -> [CheckedPurchase] {
        await withTaskGroup(of: CheckedPurchase.self) { tasks in
            var checked: [CheckedPurchase] = []
            for (index, claim) in claims.enumerated() {
                if index >= Self.atOnce, let one = await tasks.next() { checked.append(one) }
                tasks.addTask { await check(claim) }
            }
            for await one in tasks { checked.append(one) }
            return checked.sorted { $0.claim.purchase.id < $1.claim.purchase.id }
        }
    }

    private func check(_ claim: Claim) async -> CheckedPurchase {
        if workshop.desk.knows(claim.purchase.app) {
            await Self.waitForCall(claim.purchase.app, workshop)
        }
        let began = ContinuousClock.now
        let hearing = await workshop.desk.ask(claim)
        let moment = Moment(
            now: claim.claimedAt + (ContinuousClock.now - began), jitter: .random(in: 0..<1))
        let decision = decide(claim, hearing: hearing.answer, at: moment, under: workshop.rules)
        return CheckedPurchase(claim: claim, hearing: hearing, decision: decision)
    }

    private func commit(
        _ checked: [CheckedPurchase]
    ) async throws(LedgerError) -> [CheckedPurchase] {
        guard let now = checked.map(\.claim.claimedAt).max() else { return [] }
        let outcomes = checked.map {
            // A person has asked: that is kept also where nothing has changed.
            Outcome(
                claim: $0.claim, decision: $0.decision, evidence: workshop.keep?($0.hearing))
        }
        var committed = Dictionary(
            uniqueKeysWithValues: outcomes.map { ($0.claim.purchase.id, $0.decision) })
        let events: [Event]
        if isDryRun {
            events = try await workshop.ledger.preview(outcomes, at: now)
        } else {
            let report = try await workshop.ledger.commit(outcomes, under: nil, at: now)
            // What the ledger knows of the user's other purchases may change a decision.
            committed = Dictionary(
                uniqueKeysWithValues: report.committed.map { ($0.claim.purchase.id, $0.decision) })
            events = report.events
        }
        return checked.map { one in
            var one = one
            let decision = committed[one.claim.purchase.id]
            one.isCommitted = decision != nil
            one.decision = decision ?? one.decision
            one.events = events.filter { $0.purchaseID == one.claim.purchase.id }
            return one
        }
    }

    static func waitForCall(_ app: AppKey, _ workshop: Workshop) async {
        await waitForCall(app, workshop.configuration.stores, workshop.ledger)
    }

    /// A part of the quota is kept for a person who asks; without the database there is none.
    static func waitForCall(
        _ app: AppKey, _ stores: StoreSettings, _ ledger: PostgresLedger
    ) async {
        let rate = stores.requestsPerSecond(app.store)
        let wait = try? await ledger.reserveCalls(
            from: Quota.interactiveBucket(app), for: .seconds(1) / Quota.interactive(rate))
        if let wait, wait > .zero { try? await Task.sleep(for: wait) }
    }
}
