package import Ledger
package import Renewal

/// What other rules would make of the whole fleet, from what was heard of each purchase last
/// (design rule 14). Asks no store and writes nothing.
package struct WhatIf: Sendable {
    private let ledger: PostgresLedger
    private let rules: Rules

    /// Users whose purchases are read at once: what takes memory.
    static let pageLimit = 250

    package init(_ ledger: PostgresLedger, under rules: Rules) {
        self.ledger = ledger
        // What would be held would change all the same.
        var rules = rules
        rules.policy.breaker.isOn = false
        self.rules = rules
    }

    /// Looks at every purchase, user by user: what counts is what all purchases of one give.
    package func run() async throws(LedgerError) -> Difference {
        var difference = Difference()
        let circles = SharedCircles(try await ledger.sharedPairs())
        var page = try await page(after: nil).get()
        while let last = page.users.last, !Task.isCancelled {
            // Read while this one is judged: both take about as long.
            async let next = self.page(after: last)
            difference.note(page)
            try await count(
                page.outcomes(under: rules).filter { !circles.contains($0.claim.purchase.userID) },
                of: page, in: &difference)
            page = try await next.get()
        }
        for users in circles.batches(of: Self.pageLimit) where !Task.isCancelled {
            let page = try await ledger.kept(of: users)
            try await count(page.outcomes(under: rules), of: page, in: &difference)
        }
        return difference
    }

    private func count(
        _ outcomes: [Outcome], of page: KeptPage, in difference: inout Difference
    ) async throws(LedgerError) {
        guard let now = outcomes.map(\.claim.claimedAt).max() else { return }
        difference.changed += outcomes.count
        difference.sharing += outcomes.map(\.newHolders).reduce(0, +)
        difference.count(try await ledger.preview(outcomes, at: now, in: page).events)
    }

    /// - Returns: a result, as what is read ahead throws nothing of its own type.
    private func page(
        after last: (shard: Int16, userID: UserID)?
    ) async -> Result<KeptPage, LedgerError> {
        do throws(LedgerError) {
            return .success(try await ledger.keptPage(after: last, limit: Self.pageLimit))
        } catch {
            return .failure(error)
        }
    }
}

extension KeptPage {
    /// What the rules make of it: of purchases of which nothing changes, nothing.
    func outcomes(under rules: Rules) -> [Outcome] {
        var outcomes: [Outcome] = []
        for purchase in purchases {
            guard let heard = purchase.heard,
                let outcome = redecide(
                    purchase.claim, from: heard, at: purchase.claim.claimedAt, under: rules)
            else { continue }
            // One is large, and would be moved each time.
            if outcomes.isEmpty { outcomes.reserveCapacity(purchases.count) }
            outcomes.append(outcome)
        }
        return outcomes
    }
}

extension Difference {
    mutating func note(_ page: KeptPage) {
        purchases += page.purchases.count + page.unreadable
        unknown += page.unreadable
        unknown += page.purchases.count { purchase in
            purchase.heard == nil && purchase.claim.purchase.facts.isOpenToRules
        }
    }
}
