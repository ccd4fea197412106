package import Ledger
package import Renewal

/// What other rules would make of the whole fleet, from what was heard of each purchase last
/// (design rule 14). Asks no store and writes nothing.
package struct WhatIf: Sendable {
    private let ledger: PostgresLedger
    private let rules: Rules

    /// Users whose purchases are read at once: what takes memory.
    static let pageLimit = 500

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
        var last: (shard: Int16, userID: UserID)?
        repeat {
            let page = try await ledger.keptPage(after: last, limit: Self.pageLimit)
            last = page.users.last
            difference.note(page)
            let outcomes = page.outcomes(under: rules)
            guard let now = outcomes.map(\.claim.claimedAt).max() else { continue }
            difference.changed += outcomes.count
            difference.count(try await ledger.preview(outcomes, at: now).events)
        } while last != nil && !Task.isCancelled
        return difference
    }
}

extension KeptPage {
    /// What the rules make of it: of purchases of which nothing changes, nothing.
    func outcomes(under rules: Rules) -> [Outcome] {
        purchases.compactMap { purchase in
            purchase.heard.flatMap { heard in
                redecide(
                    purchase.claim, from: heard, at: purchase.claim.claimedAt, under: rules)
            }
        }
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
