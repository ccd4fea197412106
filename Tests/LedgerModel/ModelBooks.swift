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
        var step = Step(commit: commit, breakers: breakers(of: linked, older, at: now))
        for outcome in linked.inOrderOfSettling {
            var outcome = outcome
            if outcome.isChange, !step.touched.contains(outcome.claim.purchase.id) {
                outcome = settle(outcome, older[outcome.claim.purchase.id], now, &step)
            }
            reschedule(outcome)
            report.committed.append(outcome)
        }
        let asked = Set(report.committed.map(\.claim.purchaseID))
        for (id, since) in step.siblings where !asked.contains(id) {
            if let dueAt = rows[id]?.dueAt, dueAt > now { move(id, to: min(since, now)) }
        }
        for (lane, breaker) in step.breakers.all {
            breakers[lane]?.close(breaker)
            if let limit = breaker.exceeded,
                let app = lanes.first(where: { $0.number == lane })?.app
            {
                report.trips.append(
                    BreakerTrip(of: app, exceeding: limit, in: breaker.policy.window))
            }
        }
        commit = step.commit
        commit.outcomes = report.committed
        commit.trips = report.trips
        eventCount += commit.events.count
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
        let gaining = Set(outcomes.filter(\.mayComeLate).map(ownKey))
        let known = named.merging(successors.filter { gaining.contains($0.key) }) { $1 }
        let keys = Dictionary(
            outcomes.map { ($0.claim.purchase.id, ownKey($0)) }, uniquingKeysWith: { $1 })
        let linked = outcomes.map { outcome in
            guard outcome.mayComeLate, let successor = last(after: outcome, known, keys),
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

    private func ownKey(_ outcome: Outcome) -> TokenKey {
        TokenKey(lane: outcome.claim.lane, token: outcome.claim.purchase.token)
    }

    private func last(
        after outcome: Outcome, _ known: [TokenKey: Int64], _ keys: [Int64: TokenKey]
    ) -> Int64? {
        var seen: Set<Int64> = [outcome.claim.purchase.id]
        var last = known[ownKey(outcome)]
        while let id = last {
            guard seen.insert(id).inserted else { return nil }
            guard let next = keys[id].flatMap({ known[$0] }) else { return id }
            last = next
        }
        return last
    }

    // MARK: Books

    /// What a commit has come to so far.
    private struct Step {
        var commit: ModelCommit
        var breakers: ModelBreakers
        var touched: Set<Int64> = []
        var siblings: [Int64: Timestamp] = [:]
    }

    func book(of user: UserID) -> UserPurchases {
        let account = accounts[user] ?? ModelAccount()
        return UserPurchases(
            userID: user, version: account.version,
            purchases: account.purchases.sorted().compactMap { id in
                rows[id].map { .init(purchase: $0.purchase, version: $0.version) }
            },
            entitlements: Array(account.entitlements.values), offers: account.offers)
    }

    private mutating func settle(
        _ outcome: Outcome, _ older: Int64?, _ now: Timestamp, _ step: inout Step
    ) -> Outcome {
        let owner = outcome.claim.purchase.userID
        let continued = yield(older, to: outcome, now, &step)
        var book = book(of: owner)
        guard case .handed(let user, _) = outcome.decision else {
            let (outcome, settlement) = settle(outcome, in: book, continuing: continued, now, &step)
            for id in settlement.siblings { step.siblings[id] = outcome.claim.dueAt }
            enter(settlement, of: owner, &step)
            return outcome
        }
        var other = self.book(of: user)
        let before = (book, other)
        var (lost, gained) = book.handOver(outcome, to: &other, at: now)
        let links =
            before.0.losses(byTakingOver: outcome, in: lost, at: now)
            + before.1.losses(byTakingOver: outcome, in: gained, at: now)
        let holding = step.breakers.held(of: links, in: outcome.claim.lane)
        if !holding.isEmpty {
            (book, other) = before
            (lost, gained) = book.handOver(outcome, to: &other, holding: holding, at: now)
        }
        hand(outcome.claim.purchase.id, from: owner, to: user, now)
        enter(lost, of: owner, &step)
        enter(gained, of: user, &step)
        return outcome
    }

    /// What the breaker does not let through is held.
    private func settle(
        _ outcome: Outcome, in before: UserPurchases, continuing older: OlderLink?,
        _ now: Timestamp, _ step: inout Step
    ) -> (Outcome, Settlement) {
        let lane = outcome.claim.lane
        var (book, outcome) = (before, outcome.awaitingSuccessor(in: before, at: now))
        var settlement = book.settle(outcome, continuing: older, at: now)
        if settlement.revokes, let loss = outcome.loss(at: now),
            !step.breakers.admits(loss, in: lane)
        {
            book = before
            outcome = outcome.held(at: now)
            settlement = book.settle(outcome, continuing: older, at: now)
        }
        let links = before.losses(byTakingOver: outcome, in: settlement, at: now)
        let holding = step.breakers.held(of: links, in: lane)
        if !holding.isEmpty {
            book = before
            settlement = book.settle(outcome, continuing: older, holding: holding, at: now)
        }
        step.breakers.survived(outcome, at: now)
        return (outcome, settlement)
    }

    private mutating func yield(
        _ older: Int64?, to outcome: Outcome, _ now: Timestamp, _ step: inout Step
    ) -> OlderLink? {
        guard let older, let user = rows[older]?.purchase.userID, user != outcome.owner,
            outcome.rules.policy.shared != .allow
        else { return nil }
        let before = book(of: user)
        var other = before
        guard var (lost, link) = other.yield(older, to: outcome, at: now) else { return nil }
        if lost.revokes, let loss = before.loss(of: older, yieldedTo: outcome, at: now),
            !step.breakers.admits(loss, in: outcome.claim.lane)
        {
            other = before
            if let held = other.yield(older, to: outcome, holding: true, at: now) {
                (lost, link) = held
            }
        }
        if !lost.purchases.isEmpty { enter(lost, of: user, &step) }
        return link
    }

    private mutating func hand(
        _ id: Int64, from owner: UserID, to user: UserID, _ now: Timestamp
    ) {
        accounts[owner]?.purchases.remove(id)
        accounts[user, default: ModelAccount()].purchases.insert(id)
        let shard = shard(of: user)
        rows[id]?.shard = shard
        rows[id]?.claimedBy = nil
        let at = rows[id]?.claimants.first { $0.user == user }?.at ?? now
        rows[id]?.claimants.removeAll { $0.user == user }
        rows[id]?.claimants.append(.init(user: owner, at: at))
    }

    private mutating func enter(
        _ settlement: Settlement, of user: UserID, _ step: inout Step
    ) {
        for purchase in settlement.purchases {
            guard let row = rows[purchase.id] else { continue }
            step.commit.changes.append((row.purchase, purchase))
            rows[purchase.id]?.purchase = purchase
            rows[purchase.id]?.version += 1
            step.touched.insert(purchase.id)
        }
        accounts[user, default: ModelAccount()].version += 1
        for row in settlement.entitlements {
            accounts[user]?.entitlements[row.entitlement] = row
        }
        for (id, offer) in settlement.offers { accounts[user]?.offers[id] = offer }
        step.commit.events += settlement.events
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
            if case .refund(let order) = clue { row.purchase.knownRefunds.insert(order) }
        }
        rows[id] = row
    }
}
