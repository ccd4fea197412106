// When to ask again after a verdict, and what is wrong until then.

extension Judgement {
    func schedule(after verdict: Verdict) -> Schedule {
        let settled = settledClues
        return Schedule(
            nextCheckAt: nextCheckAt(after: verdict, settled), problem: problem,
            statedAt: Age(claim: claim, observation: observation, moment: moment).newest,
            inVain: leavesOpen ? claim.inVain(at: moment.now) : nil, settledClues: settled,
            // Of a consumable nobody knows here whether the app has given what was bought: the app
            // says so by consuming it, and until then the store's refund protects the user.
            awaitsAcknowledgement: facts.access == .granted && observation.awaitsAcknowledgement)
    }

    private func nextCheckAt(after verdict: Verdict, _ settled: Set<Clue>) -> Timestamp {
        let store = claim.purchase.app.store
        let rhythm = moment.dueAt(
            nextCheck(
                of: store, facts, observation, at: moment.atTheStore,
                createdAt: claim.purchase.createdAt))
        // A long wait of ours still is within the sweep.
        let ours = verdict.askAgainAt.map { min($0, sweep(of: store, at: moment)) }
        let limit = observation.askAgainBy.map {
            moment.dueAt($0) + .seconds(5 + 25 * moment.jitter)
        }
        let next = max(min(ours ?? rhythm, limit ?? .never), moment.now + .seconds(1))
        // It is refunded within days unless somebody acts: soon there is other news.
        let warned =
            isUnacknowledged ? moment.now + .hours(6) * (0.9 + 0.2 * moment.jitter) : .never
        return min(next, warned, nextLook(settled) ?? .never)
    }

    private var isUnacknowledged: Bool { facts.signals.contains(.unacknowledged) }

    private var problem: Problem? {
        if isUnacknowledged {
            return Problem(
                .unacknowledged, claim.purchase.app.store.traits.unacknowledged)
        }
        guard facts.kind == .nonRenewing, facts.access == .granted,
            catalog.product(named: names)?.duration == nil
        else { return nil }
        return Problem(.unsupported, "no duration is configured")
    }
}
