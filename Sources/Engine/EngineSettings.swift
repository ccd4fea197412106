package import Renewal

/// How the engine paces itself. What an operator may change has its default in the configuration.
package struct EngineSettings: Sendable {
    /// Checks under way at once.
    package var inFlight: Int
    /// How often idle shards are looked at.
    package var poll: Duration
    /// How long a shard is held without a word; renewed at a third of it.
    package var lease: Duration
    /// Most outcomes of one commit.
    package var batchLimit: Int
    /// How long an outcome waits for others before it is committed.
    package var batchAge: Duration
    /// How long a stop waits for the checks in hand.
    package var stopLimit: Duration
    /// How long a step of the work may take before the heartbeat says that it is stuck.
    package var stallLimit = usualStallLimit
    /// Calls per second of each app; an app without one is not paced.
    package var callsPerSecond: [AppKey: Double] = [:]
    /// The most of an app's calls that go to what is not due, 0 to 1.
    package var sweepShare = 0.0
    package var rules = Rules()
    /// How the stores' questions about refunds are answered.
    package var refunds = RefundRule()
    /// Only these stores are asked; empty is all.
    package var stores: Set<Store> = []

    /// Longer than any call's deadline.
    package static let usualStallLimit = Duration.seconds(60)

    package init(
        inFlight: Int, poll: Duration, lease: Duration, batchLimit: Int, batchAge: Duration,
        stopLimit: Duration
    ) {
        self.inFlight = inFlight
        self.poll = poll
        self.lease = lease
        self.batchLimit = batchLimit
        self.batchAge = batchAge
        self.stopLimit = stopLimit
    }
}

/// How long an engine runs.
package enum RunMode: Hashable, Sendable {
    /// Until it is told to stop.
    case forever
    /// Once over all that is due, at most so many checks.
    case onePass(limit: Int?)

    /// How long a call for news may wait for calls of other apps to go with: in a pass all apps
    /// call at once, and somebody waits for its end.
    var callPatience: Duration {
        switch self {
        case .forever: .seconds(1)
        case .onePass: .zero
        }
    }
}

/// What a run came to.
package struct RunReport: Hashable, Sendable {
    package var checked = 0
    /// Checks in which the store told the state.
    package var verdicts = 0
    package var events = 0
    /// Purchases that were due and could not be judged.
    package var unjudged = 0
    /// Purchases that are due and whose rows another session of the database held.
    package var held = 0
    /// Shards that another worker held.
    package var shardsLeftToOthers = 0

    package init() {}
}
