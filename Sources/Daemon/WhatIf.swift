package import Ledger
package import Renewal

/// What other rules would make of the whole fleet, from what was heard of each purchase last
/// (design rule 14). Asks no store and writes nothing.
package struct WhatIf: Sendable {
    private let ledger: PostgresLedger
    private let rules: Rules

    /// Users whose purchases are read at once: what takes memory.
    static let pageLimit = 250
    /// While the database reads one page, others are decoded and judged.
    private static let pagesAtOnce = 3

    private typealias Part = Result<Difference, LedgerError>

    package init(_ ledger: PostgresLedger, under rules: Rules) {
        self.ledger = ledger
        // What would be held would change all the same.
        var rules = rules
        rules.policy.breaker.isOn = false
        self.rules = rules
    }

    /// Looks at every purchase, user by user: what counts is what all purchases of one give.
    package func run() async throws(LedgerError) -> Difference {
        let circles = SharedCircles(try await ledger.sharedPairs())
        let others = await withTaskGroup(of: Part.self) { parts in
            await walk(&parts, past: circles)
        }
        var difference = try others.get()
        for users in circles.batches(of: Self.pageLimit) where !Task.isCancelled {
            let page = try await ledger.kept(of: users)
            try await count(page.outcomes(under: rules), of: page, in: &difference)
        }
        return difference
    }

    /// All pages. Those who share purchases are counted there, and judged together later.
    private func walk(_ parts: inout TaskGroup<Part>, past circles: SharedCircles) async -> Part {
        do throws(LedgerError) {
            var whole = Difference()
            var underWay = 0
            var users = try await ledger.users(after: nil, limit: Self.pageLimit)
            while let last = users.last, !Task.isCancelled {
                if underWay == Self.pagesAtOnce, let part = await parts.next() {
                    whole += try part.get()
                } else {
                    underWay += 1
                }
                parts.addTask { [users] in await part(of: users, past: circles) }
                users = try await ledger.users(after: last, limit: Self.pageLimit)
            }
            for await part in parts { whole += try part.get() }
            return .success(whole)
        } catch {
            parts.cancelAll()
            return .failure(error)
        }
    }

    private func part(
        of users: [(shard: Int16, userID: UserID)], past circles: SharedCircles
    ) async -> Part {
        do throws(LedgerError) {
            var part = Difference()
            let page = try await ledger.kept(of: users)
            part.note(page)
            try await count(
                page.outcomes(under: rules).filter { !circles.contains($0.claim.purchase.userID) },
                of: page, in: &part)
            return .success(part)
        } catch {
            return .failure(error)
        }
    }

    private func count(
        _ outcomes: [Outcome], of page: KeptPage, in difference: inout Difference
    ) async throws(LedgerError) {
        guard let now = outcomes.map(\.claim.claimedAt).max() else { return }
        difference.changed += outcomes.count
        difference.sharing += outcomes.map(\.newHolders).reduce(0, +)
        difference.count(try await ledger.preview(outcomes, at: now, in: page).events)
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
