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
        var page = try await page(after: nil).get()
        while let last = page.users.last, !Task.isCancelled {
            // Read while this one is judged: both take about as long.
            async let next = self.page(after: last)
            difference.note(page)
            let outcomes = page.outcomes(under: rules)
            if let now = outcomes.map(\.claim.claimedAt).max() {
                difference.changed += outcomes.count
                difference.count(try await ledger.preview(outcomes, at: now, in: page).events)
            }
            page = try await next.get()
        }
        return difference
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
