package import Renewal

/// The engine's doors to the world: closures that the composition root fills.
package struct Ports: Sendable {
    /// Asks the store of the claim's app. Never fails: a failure is an answer.
    package var ask: @Sendable (Claim) async -> Hearing
    /// Makes what is kept of a check that mattered. Nil where nothing is kept.
    package var keep: (@Sendable (Hearing) -> Evidence)?
    /// All lanes that exist.
    package var lanes: @Sendable () async throws(PortError) -> [Lane]
    /// Due claims of a lane from the given places on: most of one shard, most in all.
    package var claim: @Sendable (Lane, [Place], Int, Int) async throws(PortError) -> [Claim]
    /// Due claims of a lane in the given shards that were in hand when a process ended.
    package var suspects: @Sendable (Lane, [Int16]) async throws(PortError) -> [Claim]
    /// Notes what is in hand, by shard; gives the shards that are still owned.
    package var mark: @Sendable ([Int16: [Int64]], Lease) async throws(PortError) -> Set<Int16>
    package var commit:
        @Sendable ([Outcome], Lease, Timestamp) async throws(PortError) -> CommitReport
    /// Says that the worker is alive for the given time; gives the number of workers.
    package var beat: @Sendable (WorkerID, Duration) async throws(PortError) -> Int
    /// Leases free shards, so many at most.
    package var take: @Sendable (WorkerID, Int, Duration) async throws(PortError) -> [TakenShard]
    /// Renews, and notes the shards of which nothing is in hand; gives those that are still owned.
    package var renew: @Sendable (Lease, Duration, Set<Int16>) async throws(PortError) -> Set<Int16>
    package var release: @Sendable (Lease) async throws(PortError) -> Void
    package var leave: @Sendable (WorkerID) async throws(PortError) -> Void
    /// Reserves a stretch of the row of calls: for how many, how long; gives the wait until it
    /// begins.
    package var reserve: @Sendable (AppKey, Int, Duration) async throws(PortError) -> Duration
    /// Lets no worker call an app's store for a while.
    package var block: @Sendable (AppKey, Duration) async throws(PortError) -> Void
    /// Waits for news of due purchases; gives the lane, or nil when it may be any.
    package var news: (@Sendable () async throws(PortError) -> Int16?)?
    /// Told after each commit.
    package var committed: @Sendable (CommitReport) -> Void
    /// Tells a store that a purchase has arrived; gives whether it has heard. Nil where nobody is
    /// told.
    package var acknowledge: (@Sendable (Claim) async -> Bool)?
    /// Where news comes from.
    package var hints: [HintSource] = []
    /// How hints are stored; without it no source is read.
    package var hintDoors: HintDoors?
    /// Told when the circuit of an app has moved.
    package var circuitMoved: @Sendable (AppKey, Circuit) -> Void = { _, _ in }

    package init(
        ask: @escaping @Sendable (Claim) async -> Hearing,
        lanes: @escaping @Sendable () async throws(PortError) -> [Lane],
        claim: @escaping @Sendable (Lane, [Place], Int, Int) async throws(PortError) -> [Claim],
        suspects: @escaping @Sendable (Lane, [Int16]) async throws(PortError) -> [Claim],
        mark: @escaping @Sendable ([Int16: [Int64]], Lease) async throws(PortError) -> Set<Int16>,
        commit:
            @escaping @Sendable ([Outcome], Lease, Timestamp) async throws(PortError) ->
            CommitReport,
        beat: @escaping @Sendable (WorkerID, Duration) async throws(PortError) -> Int,
        take:
            @escaping @Sendable (WorkerID, Int, Duration) async throws(PortError) -> [TakenShard],
        renew:
            @escaping @Sendable (Lease, Duration, Set<Int16>) async throws(PortError) -> Set<Int16>,
        release: @escaping @Sendable (Lease) async throws(PortError) -> Void,
        leave: @escaping @Sendable (WorkerID) async throws(PortError) -> Void,
        reserve: @escaping @Sendable (AppKey, Int, Duration) async throws(PortError) -> Duration,
        block: @escaping @Sendable (AppKey, Duration) async throws(PortError) -> Void,
        news: (@Sendable () async throws(PortError) -> Int16?)? = nil,
        committed: @escaping @Sendable (CommitReport) -> Void = { _ in }
    ) {
        self.ask = ask
        self.lanes = lanes
        self.claim = claim
        self.suspects = suspects
        self.mark = mark
        self.commit = commit
        self.beat = beat
        self.take = take
        self.renew = renew
        self.release = release
        self.leave = leave
        self.reserve = reserve
        self.block = block
        self.news = news
        self.committed = committed
    }
}

extension Ports {
    /// Judges what was heard; of a check that mattered the evidence is kept.
    func outcome(
        of claim: Claim, _ hearing: Hearing, at moment: Moment, under rules: Rules
    ) -> Outcome {
        var outcome = Outcome(
            claim: claim,
            decision: decide(claim, hearing: hearing.answer, at: moment, under: rules))
        if let keep, outcome.matters { outcome.evidence = keep(hearing) }
        return outcome
    }
}

/// A door did not open. The sentence is fit for a log.
package struct PortError: Error, Hashable, Sendable {
    package let sentence: String

    package init(_ sentence: String) {
        self.sentence = sentence
    }
}
