import Configuration
import Engine
package import Ledger
import Logging
package import Renewal
import ServiceLifecycle

/// What a check of one purchase came to.
package struct CheckedPurchase: Sendable {
    /// What was known before, and what was heard.
    private let check: AnsweredCheck
    package fileprivate(set) var outcome: Outcome
    /// Whether it was committed, or would be, or the database has refused it; what another has
    /// moved meanwhile is checked anew.
    package var isDecided = false
    package var events: [Event] = []

    /// A person has asked: what was heard is kept also where nothing has changed.
    init(_ check: AnsweredCheck, by pass: Pass, isReleasing: Bool) {
        self.check = check
        outcome = pass.decide(check, keepsEvidence: true, isReleasing: isReleasing)
    }

    package var claim: Claim { check.claim }
    package var call: AnsweredCall { check.call }

    /// One whose app is not configured stays due, so that it is asked about as soon as it is.
    var isToBeCommitted: Bool { check.isToBeDecided }

    fileprivate var sharesItself: Bool {
        if case .shared = outcome.decision { isDecided } else { false }
    }

    /// The facts that stand now, or would stand after a dry run.
    package var facts: Facts { outcome.facts }
}

/// What a check of one user came to.
package struct CheckedUser: Sendable {
    /// One for each purchase that can be read, oldest first.
    package var purchases: [CheckedPurchase] = []
    package var unreadable: [UnreadablePurchase] = []
    /// Those that another worker has moved in each round: nothing was written of them.
    package var contested: [Claim] = []
    /// Those whose turn had not come when the check was stopped: nobody has asked about them.
    package var left: [Claim] = []
    /// What the database met after a part was stored: then those above may not be all.
    package var trouble: LedgerError?

    fileprivate var isComplete: Bool { contested.isEmpty && left.isEmpty }

    package var isUnknown: Bool {
        purchases.isEmpty && unreadable.isEmpty && contested.isEmpty && left.isEmpty
    }
}

/// Re-validates all purchases of one user, now, outside of any lease: the versions decide.
package struct UserCheck: Sendable {
    private let services: Services
    private let isDryRun: Bool
    /// Nil is all purchases of the user; else these alone, whose held revocations are let go.
    private let released: Set<Int64>?
    private let calls: UrgentCalls

    /// Times that a check is made anew because the daemon has moved a purchase meanwhile.
    private static let roundLimit = 3
    /// Most purchases of one user asked about at once.
    private static let atOnce = 8

    package init(_ services: Services, isDryRun: Bool, releasing released: Set<Int64>? = nil) {
        self.services = services
        self.isDryRun = isDryRun
        self.released = released
        calls = UrgentCalls(services.configuration.stores, services.ledger)
    }

    /// - Returns: nothing for an unknown user.
    /// - Throws: what the database says where nothing was stored.
    package func run(user: UserID) async throws(LedgerError) -> CheckedUser {
        var done: [Int64: CheckedPurchase] = [:]
        var checkedUser = CheckedUser()
        do throws(LedgerError) {
            for _ in 0..<Self.roundLimit {
                let before = Set(done.keys)
                try await round(of: user, &done, &checkedUser)
                // What the user has now as a purchase of their own is asked about as well.
                let hasShared = done.contains { !before.contains($0) && $1.sharesItself }
                let isLast = checkedUser.isComplete && !hasShared
                if isLast || isDryRun || Task.isShuttingDownGracefully { break }
            }
        } catch {
            // What is stored is shown, whatever came of the rest.
            guard !isDryRun, done.values.contains(where: \.isDecided) else { throw error }
            checkedUser.trouble = error
        }
        checkedUser.purchases = done.values.sorted {
            $0.claim.purchaseID < $1.claim.purchaseID
        }
        return checkedUser
    }

    private func round(
        of user: UserID, _ done: inout [Int64: CheckedPurchase], _ checkedUser: inout CheckedUser
    ) async throws(LedgerError) {
        let (all, unreadable) = try await services.ledger.purchases(
            ofUser: user, includingClaimed: true)
        checkedUser.unreadable = unreadable
        let claims = all.filter { claim in
            done[claim.purchaseID] == nil && released?.contains(claim.purchaseID) ?? true
        }
        let asked = try await ask(claims)
        let (committed, trouble) = try await commit(asked)
        for checked in committed where checked.isDecided || !checked.isToBeCommitted {
            done[checked.claim.purchaseID] = checked
        }
        let begun = Set(asked.map(\.claim.purchaseID))
        let open = claims.filter { done[$0.purchaseID] == nil }
        checkedUser.contested = open.filter { begun.contains($0.purchaseID) }
        checkedUser.left = open.filter { !begun.contains($0.purchaseID) }
        if let trouble { throw trouble }
    }

    /// - Returns: of all but those whose turn had not come when the command was stopped.
    private func ask(_ claims: [Claim]) async throws(LedgerError) -> [CheckedPurchase] {
        typealias Checked = Result<CheckedPurchase?, LedgerError>
        let checked = await withTaskGroup(of: Checked.self) { tasks in
            var checked: [Checked] = []
            for (index, claim) in claims.enumerated() {
                if index >= Self.atOnce, let one = await tasks.next() { checked.append(one) }
                tasks.addTask {
                    do throws(LedgerError) {
                        return .success(try await check(claim))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            for await one in tasks { checked.append(one) }
            return checked
        }
        var purchases: [CheckedPurchase] = []
        for one in checked {
            if let purchase = try one.get() { purchases.append(purchase) }
        }
        return purchases.sorted { $0.claim.purchaseID < $1.claim.purchaseID }
    }

    /// Waits for a place in the row of calls first: whoever waits at a terminal goes ahead.
    ///
    /// - Returns: nil when the command was stopped meanwhile. What has its place is asked about.
    private func check(_ claim: Claim) async throws(LedgerError) -> CheckedPurchase? {
        let pass = Pass(services.stores, under: services.rules)
        let began = ContinuousClock.now
        guard !Task.isShuttingDownGracefully else { return nil }
        var place = CallPlace.anyTime
        if services.clients.knows(claim.purchase.app) {
            switch try await calls.wait(for: claim.purchase.app) {
            case .success(let given): place = given
            case .failure(let failure):
                // No place in the row is no fault of the purchase then.
                guard !Task.isShuttingDownGracefully else { return nil }
                return CheckedPurchase(
                    AnsweredCheck(of: claim, AnsweredCall(.failure(failure)), since: began),
                    by: pass, isReleasing: released != nil)
            }
        }
        let permit = calls.permit(for: claim.purchase.app, at: place)
        return CheckedPurchase(
            await pass.ask(claim, permit, since: began), by: pass, isReleasing: released != nil)
    }

    /// - Returns: what became of each, and what the database met after a part was stored.
    private func commit(
        _ checked: [CheckedPurchase]
    ) async throws(LedgerError) -> ([CheckedPurchase], LedgerError?) {
        guard let now = checked.map(\.claim.claimedAt).max() else { return ([], nil) }
        let outcomes = checked.filter(\.isToBeCommitted).map(\.outcome)
        let report =
            isDryRun
            ? try await services.ledger.preview(outcomes, at: now)
            : try await services.ledger.commit(outcomes, under: nil, at: now)
        if !isDryRun { for trip in report.trips { services.log.alert(trip) } }
        // What the ledger knows of the user's other purchases may change a decision, and so may
        // what it cannot read of them.
        let decided = Dictionary(
            uniqueKeysWithValues: (report.committed + report.refused).map {
                ($0.claim.purchaseID, $0)
            })
        let told = checked.map { one in
            var one = one
            let outcome = decided[one.claim.purchaseID]
            one.isDecided = outcome != nil
            one.outcome = outcome ?? one.outcome
            one.events = report.events.filter { $0.purchaseID == one.claim.purchaseID }
            return one
        }
        return (told, report.unfinished?.error)
    }
}
