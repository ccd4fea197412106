package import Renewal

/// How the engine paces itself.
package struct EngineSettings: Sendable {
    /// Checks under way at once.
    package var inFlight = 200
    /// How often idle shards are looked at.
    package var poll = Duration.seconds(1)
    /// How long a shard is held without a word; renewed at a third of it.
    package var lease = Duration.seconds(30)
    /// Most outcomes of one commit.
    package var batchLimit = 500
    /// How long an outcome waits for others before it is committed.
    package var batchAge = Duration.milliseconds(10)
    /// How long a stop waits for the checks in hand.
    package var stopLimit = Duration.seconds(20)
    /// How long a step of the work may take before the heartbeat says that it is stuck: longer than
    /// any call's deadline.
    package var stallLimit = Duration.seconds(60)
    /// Calls per second of each app; an app without one is not paced.
    package var callsPerSecond: [AppKey: Double] = [:]
    package var rules = Rules()
    /// Only these stores are asked; empty is all.
    package var stores: Set<Store> = []

    package init() {}
}

/// How long an engine runs.
package enum RunMode: Hashable, Sendable {
    /// Until it is told to stop.
    case forever
    /// Once over all that is due, at most so many checks.
    case onePass(limit: Int?)
}

/// What a run came to.
package struct RunReport: Hashable, Sendable {
    package var checked = 0
    /// Checks in which the store told the state.
    package var verdicts = 0
    package var events = 0
    /// Purchases that were due and could not be judged.
    package var unjudged = 0
    /// Shards that another worker held.
    package var shardsLeftToOthers = 0

    package init() {}
}
