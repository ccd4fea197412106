/// What a check has come to: what is decided about the claimed purchase, and when it is asked about
/// again. Only `decide` makes one.
package struct Outcome: Hashable, Sendable {
    package let claim: Claim
    package internal(set) var decision: Decision
    package internal(set) var schedule: Schedule
    /// The rule that was applied, as a sentence for people.
    package internal(set) var rule: String
    /// What was in force when it was decided; what the user's purchases give together goes by it.
    package let rules: Rules
    /// What is kept of the check; nil where nothing is.
    @Boxed package var evidence: Evidence?
    /// What the facts stand by from now on; nil where nothing was judged.
    @Boxed package internal(set) var kept: KeptObservation?
    /// Whether a store was asked for it.
    package internal(set) var isAnswer = true
    /// Whether it is no verdict, and believed all the same.
    var isBelieved = false
}

extension Outcome {
    package var change: Change? { decision.change }

    /// The facts as they shall be.
    package var facts: Facts { change?.facts ?? claim.purchase.facts }

    /// Told whatever the user's other purchases give.
    package var notices: [Change.Notice] { change?.notices ?? [] }

    /// Whose the purchase is from now on.
    package var owner: UserID {
        if case .handed(let user, _) = decision { user } else { claim.purchase.userID }
    }

    package var isShared: Bool {
        if case .shared = decision { true } else { false }
    }

    /// Whether the store told the state.
    package var isVerdict: Bool { schedule.attempts == 0 && isAnswer }

    /// Whether nothing is left open by the answer: a second one has confirmed the first, or it says
    /// no more than is known.
    package var isJudged: Bool { isVerdict || isBelieved }

    /// Whether there is more to store than the next check.
    package var isChange: Bool {
        if case .unchanged = decision { false } else { true }
    }

    /// Whether the check has changed anything that somebody may ask about later: a fact, what a
    /// user holds, or what is wrong.
    package var matters: Bool { isChange || schedule.problem?.code != claim.problemCode }
}

extension Outcome {
    /// What is left of it when it cannot be stored, and `problem` says why: the next check alone,
    /// with the usual backoff.
    package func postponed(at now: Timestamp, _ problem: Problem) -> Outcome {
        var later = self
        later.decision = .unchanged
        later.isBelieved = false
        later.schedule.attempts = claim.attempts + 1
        later.schedule.nextCheckAt = now + retryDelay(attempts: claim.attempts + 1, jitter: 1)
        later.schedule.problem = problem
        later.schedule.settledClues = []
        later.schedule.awaitsAcknowledgement = false
        later.evidence = evidence?.withoutWords
        later.kept = nil
        return later
    }

    /// What is left of it while another session is in the way of storing it, and `problem` says so:
    /// the next check alone, which comes soon. It is no failure of the store's.
    package func waiting(at now: Timestamp, _ problem: Problem) -> Outcome {
        var later = postponed(at: now, problem)
        let attempts = max(claim.attempts, min(claim.attempts + 1, Self.waitingAttempts))
        later.schedule.attempts = attempts
        later.schedule.nextCheckAt =
            now + retryDelay(attempts: min(attempts, Self.waitingAttempts), jitter: 1)
        // Told once, however long it lasts.
        if claim.problem == problem.description { later.evidence = nil }
        return later
    }

    /// The rest between two of its checks grows up to five minutes.
    private static let waitingAttempts = 6
}

extension Evidence {
    /// Without anything that the database may have refused.
    fileprivate var withoutWords: Evidence {
        Evidence(
            .failure, heard: "an answer that could not be stored",
            calls: calls.map { call in
                Call(name: call.name, status: call.status, bytes: call.bytes, digest: call.digest)
            })
    }
}

/// What became of a batch.
package struct CommitReport: Hashable, Sendable {
    /// Claims that were committed.
    package var committed: [Outcome] = []
    /// Claims that another has moved meanwhile: their answers are dropped.
    package var dropped: [Claim] = []
    /// Those of them whose rows another session holds: not even their next check could be moved.
    package var held: [Claim] = []
    /// Claims whose outcome the database refused to store; instead of it, why.
    package var refused: [Outcome] = []
    package var events: [Event] = []
    /// Breakers that the commit has tripped.
    package var trips: [BreakerTrip] = []
    /// Nil where all of it was tried. Else the above is stored all the same, for good.
    package var unfinished: UnfinishedCommit?

    package init() {}

    /// Whether the database has taken anything of it.
    package var hasStored: Bool { !committed.isEmpty || !refused.isEmpty }

    /// For those who do not go on with the rest.
    ///
    /// - Throws: what a part of it has met.
    package func requireAll() throws(LedgerError) {
        if let unfinished { throw unfinished.error }
    }

    package static func += (whole: inout CommitReport, part: CommitReport) {
        whole.committed += part.committed
        whole.dropped += part.dropped
        whole.held += part.held
        whole.refused += part.refused
        whole.events += part.events
        whole.trips += part.trips
        whole.unfinished = whole.unfinished ?? part.unfinished
    }
}

/// What a commit has met after a part of it was stored.
package struct UnfinishedCommit: Hashable, Sendable {
    /// Of which it is not known whether anything was stored, or nothing was: to be tried again.
    package let left: [Outcome]
    package let error: LedgerError

    package init(left: [Outcome], error: LedgerError) {
        self.left = left
        self.error = error
    }
}

/// An app's breaker has tripped: revocations are held from now on.
package struct BreakerTrip: Hashable, Sendable {
    package let app: AppKey
    package let exceeded: RevocationBreaker.Limit
    package let window: Duration

    package init(of app: AppKey, exceeding limit: RevocationBreaker.Limit, in window: Duration) {
        self.app = app
        exceeded = limit
        self.window = window
    }
}
