/// What a worker tells and asks about the sources of hints, all of them together.
package struct HintRound: Hashable, Sendable {
    /// Readings that have ended: the worker lets go of these sources.
    package var ended: [HintReading] = []
    /// Sources that are being read: the worker keeps them.
    package var kept: [SourceID] = []
    /// Sources that the worker would read.
    package var wanted: [SourceID] = []
    /// Whether also before they are due.
    package var isEarly = false
    /// Of those that it would read, the ones whose calls are limited by the day: they are read at
    /// most `longestEarly` before they are due, as what is due later has used that up.
    package var limited: [SourceID] = []
    /// For how long those that it keeps and gets are its own without another word.
    package var lease: Duration

    package init(lease: Duration) { self.lease = lease }

    package static let longestEarly = Duration.minutes(10)

    package var isEmpty: Bool { ended.isEmpty && kept.isEmpty && wanted.isEmpty }
}

/// What one reading of a source of hints came to.
package struct HintReading: Hashable, Sendable {
    package let source: SourceID
    /// Where to go on after a page that brought nothing: there is nothing else to store of it. Nil
    /// where the place is stored already, or stays.
    package var position: String?
    package var outcome: Outcome
    /// From now until the source is due again.
    package var rest: Duration

    package enum Outcome: Hashable, Sendable {
        /// It was read to its end.
        case read
        /// With the failures in a row, this one included.
        case failed(Problem, failures: Int)
        /// It was cut short, or not begun: what was known of the source holds.
        case left
    }

    package init(
        _ source: SourceID, _ outcome: Outcome, position: String? = nil, rest: Duration
    ) {
        self.source = source
        self.outcome = outcome
        self.position = position
        self.rest = rest
    }
}

/// A page of news, for the database.
package struct HintDelivery: Sendable {
    package let page: HintPage
    package let source: SourceID
    /// What the hints are about.
    package let app: AppKey
    /// Who reads the source, and how long it stays theirs.
    package let worker: WorkerID
    package let lease: Duration
    /// The database's time when the pull began: what was checked since is left.
    package let began: Timestamp
    /// For how long the source is to rest if nothing more is heard of its reading: what the calls
    /// so far have used up of its day. Nil where its calls are not limited by the day.
    package var rest: Duration?

    package init(
        _ page: HintPage, from source: SourceID, about app: AppKey, by worker: WorkerID,
        lease: Duration, began: Timestamp
    ) {
        self.page = page
        self.source = source
        self.app = app
        self.worker = worker
        self.lease = lease
        self.began = began
    }
}

/// The answer to a round.
package struct HintTurns: Hashable, Sendable {
    /// The database's time.
    package var now: Timestamp
    /// Sources that the worker may read now: one worker at a time, at the source's own pace.
    package var granted: [SourceID: HintCursor] = [:]
    /// How long before they are due it may read these.
    package var early: [SourceID: Duration] = [:]
    /// How long to wait for those that it may not.
    package var waits: [SourceID: Duration] = [:]
    /// Sources that it wanted to keep and that another worker has.
    package var lost: Set<SourceID> = []

    package init(now: Timestamp) { self.now = now }
}

/// Where a source of hints is read on.
package struct HintCursor: Hashable, Sendable {
    /// Nil is the source's own beginning.
    package let position: String?
    /// How many readings in a row have failed.
    package let failures: Int

    package init(position: String?, failures: Int) {
        self.position = position
        self.failures = failures
    }
}

/// What became of a page of hints.
package struct HintReport: Hashable, Sendable {
    /// Hints that were not heard before.
    package let fresh: Int
    /// Purchases that were made due.
    package let woken: Int
    /// Hints about what nobody has submitted yet.
    package let unclaimed: Int
    /// News that nobody handles, by type.
    package let unhandled: [UnhandledCount]
    /// What was told about refunds, in its order.
    package var refundNotices: [RefundNotice] = []

    package init(fresh: Int, woken: Int, unclaimed: Int, unhandled: [UnhandledCount] = []) {
        self.fresh = fresh
        self.woken = woken
        self.unclaimed = unclaimed
        self.unhandled = unhandled
    }
}

/// What a page has brought of one type of news that nobody handles.
package struct UnhandledCount: Hashable, Sendable {
    package let type: String
    /// Pieces that were not heard before.
    package let fresh: Int
    /// Whether the type was never seen before.
    package let isNew: Bool
    package let isExpected: Bool

    package init(type: String, fresh: Int, isNew: Bool, isExpected: Bool) {
        self.type = type
        self.fresh = fresh
        self.isNew = isNew
        self.isExpected = isExpected
    }
}
