import Engine
import Renewal

// A commit: what `PostgresLedger.commit` does, in one step.
extension ModelState {
    mutating func commit(
        _ outcomes: [Outcome], _ lease: Lease?, _ now: Timestamp
    ) -> CommitReport {
        var report = CommitReport()
        let sorted = outcomes.sorted {
            ($0.claim.shard, $0.claim.purchase.id) < ($1.claim.shard, $1.claim.purchase.id)
        }
        let standing = sorted.filter { stands($0.claim, lease) }
        report.dropped = sorted.filter { !stands($0.claim, lease) }.map(\.claim)
        guard !standing.isEmpty else { return report }
        let (linked, older) = link(standing)
        var commit = ModelCommit(worker: lease?.worker, now: now, outcomes: linked)
        var touched: Set<Int64> = []
        for outcome in linked {
            if outcome.isChange, !touched.contains(outcome.claim.purchase.id) {
                settle(outcome, older[outcome.claim.purchase.id], now, &commit, &touched)
            }
            reschedule(outcome)
        }
        eventCount += commit.events.count
        report.committed = linked
        report.events = commit.events
        listener?.hear(commit)
        return report
    }

    private func stands(_ claim: Claim, _ lease: Lease?) -> Bool {
        guard let row = rows[claim.purchase.id] else { return false }
        if breakage.hasNoFence { return true }
        return (lease.map { holds($0, claim.shard) } ?? true)
            && row.dueAt == claim.dueAt && row.version == claim.version
            && row.shard == claim.shard
    }

    // MARK: Chains

    private mutating func link(_ outcomes: [Outcome]) -> ([Outcome], [Int64: Int64]) {
        var named: [TokenKey: Int64] = [:]
        for outcome in outcomes {
            if let key = key(of: outcome.change?.olderLink, for: outcome) {
                named[key] = outcome.claim.purchase.id
            }
        }
        let known = named.merging(successors) { $1 }
        let linked = outcomes.map { outcome in
            guard outcome.mayComeLate, let successor = last(after: outcome, known),
                let merged = outcome.superseded(by: successor)
            else { return outcome }
            if let key = key(of: outcome.change?.olderLink, for: outcome) {
                named[key] = successor
            }
            return merged
        }
        for (key, id) in named where successors[key] == nil { successors[key] = id }
        var older: [Int64: Int64] = [:]
        for outcome in linked {
            guard let key = key(of: outcome.change?.predecessorToken, for: outcome),
                let id = tokens[key], rows[id]?.purchase.userID != outcome.claim.purchase.userID
            else { continue }
            older[outcome.claim.purchase.id] = id
        }
        return (linked, older)
    }

    private func key(of token: StoreToken?, for outcome: Outcome) -> TokenKey? {
        guard let token, token != outcome.claim.purchase.token else { return nil }
        return TokenKey(lane: outcome.claim.lane, token: token)
    }

    private func last(after outcome: Outcome, _ known: [TokenKey: Int64]) -> Int64? {
        var seen: Set<Int64> = [outcome.claim.purchase.id]
        var last = known[
            TokenKey(lane: outcome.claim.lane, token: outcome.claim.purchase.token)]
        while let id = last {
            guard seen.insert(id).inserted else { return nil }
            let key = rows[id].map { TokenKey(lane: $0.lane, token: $0.purchase.token) }
            guard let next = key.flatMap({ known[$0] }) else { return id }
            last = next
        }
        return last
    }

    // MARK: Books

    private func book(of user: UserID) -> UserPurchases {
        let account = accounts[user] ?? ModelAccount()
        return UserPurchases(
            userID: user, version: account.version,
            purchases: account.purchases.sorted().compactMap { id in
                rows[id].map { .init(purchase: $0.purchase, version: $0.version) }
            },
            entitlements: Array(account.entitlements.values), offers: account.offers)
    }

    private mutating func settle(
        _ outcome: Outcome, _ older: Int64?, _ now: Timestamp, _ commit: inout ModelCommit,
        _ touched: inout Set<Int64>
    ) {
        let owner = outcome.claim.purchase.userID
        var continued: OlderLink?
        if let older, let user = rows[older]?.purchase.userID, user != outcome.owner {
            var other = book(of: user)
            if let (lost, link) = other.yield(older, to: outcome, at: now) {
                continued = link
                enter(lost, of: user, &commit, &touched)
            }
        }
        var book = book(of: owner)
        guard case .handed(let user, _) = outcome.decision else {
            enter(
                book.settle(outcome, continuing: continued, at: now), of: owner, &commit,
                &touched)
            return
        }
        var other = self.book(of: user)
        let (lost, gained) = book.handOver(outcome, to: &other, at: now)
        hand(outcome.claim.purchase.id, from: owner, to: user, now)
        enter(lost, of: owner, &commit, &touched)
        enter(gained, of: user, &commit, &touched)
    }

    private mutating func hand(
        _ id: Int64, from owner: UserID, to user: UserID, _ now: Timestamp
    ) {
        accounts[owner]?.purchases.remove(id)
        accounts[user, default: ModelAccount()].purchases.insert(id)
        rows[id]?.shard = Self.shard(of: user)
        rows[id]?.claimedBy = nil
        let at = rows[id]?.claimants.first { $0.user == user }?.at ?? now
        rows[id]?.claimants.removeAll { $0.user == user }
        rows[id]?.claimants.append(.init(user: owner, at: at))
    }

    private mutating func enter(
        _ settlement: Settlement, of user: UserID, _ commit: inout ModelCommit,
        _ touched: inout Set<Int64>
    ) {
        for purchase in settlement.purchases {
            guard let row = rows[purchase.id] else { continue }
            commit.changes.append((row.purchase, purchase))
            rows[purchase.id]?.purchase = purchase
            rows[purchase.id]?.version += 1
            touched.insert(purchase.id)
        }
        accounts[user, default: ModelAccount()].version += 1
        for row in settlement.entitlements {
            accounts[user]?.entitlements[row.entitlement] = row
        }
        for (id, offer) in settlement.offers { accounts[user]?.offers[id] = offer }
        commit.events += settlement.events
    }

    private mutating func reschedule(_ outcome: Outcome) {
        let (id, next) = (outcome.claim.purchase.id, outcome.schedule)
        move(id, to: next.nextCheckAt)
        guard var row = rows[id] else { return }
        row.attempts = next.attempts
        row.crashes = 0
        row.problem = next.problem?.description
        row.statedAt = next.statedAt
        row.inVain = next.inVain
        if outcome.isVerdict { row.checkedAt = now }
        for clue in next.settledClues {
            row.purchase.clues.remove(clue)
            row.purchase.cluesHeardAt[clue] = nil
        }
        rows[id] = row
    }
}
