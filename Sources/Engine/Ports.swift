package import Renewal

/// The engine's doors to the world: closures that the composition root fills.
package struct Ports: Sendable {
    /// Asks the store of the claim's app. Never fails: a failure is an answer.
    package var ask: @Sendable (Claim) async -> Hearing
    /// Makes what is kept of a check that mattered. Nil where nothing is kept.
    package var keep: (@Sendable (Hearing) -> Evidence)?
    /// Tells which apps the worker has configured; gives their lanes.
    package var lanes: @Sendable (WorkerID) async throws(LedgerError) -> ConfiguredLanes
    /// When the first purchase of each of the lanes is due in the given shards, and which purchases
    /// have come there after the given id.
    package var heads: @Sendable ([Lane], [Int16], Int64) async throws(LedgerError) -> QueueHeads
    /// Due claims of a lane from the given places on: most of one shard, most in all.
    package var claim: @Sendable (Lane, [Place], Int, Int) async throws(LedgerError) -> [Claim]
    /// Due claims of the lanes in the given shards that were in hand when a process ended.
    package var suspects: @Sendable ([Lane], [Int16]) async throws(LedgerError) -> [Claim]
    /// Notes what is in hand, by shard; gives the shards that are still owned.
    package var mark: @Sendable ([Int16: [Int64]], Lease) async throws(LedgerError) -> Set<Int16>
    package var commit:
        @Sendable ([Outcome], Lease, Timestamp) async throws(LedgerError) -> CommitReport
    /// Says that the worker is alive for the given time; gives the number of workers.
    package var beat: @Sendable (WorkerID, Duration) async throws(LedgerError) -> Int
    /// Leases free shards, so many at most.
    package var take: @Sendable (WorkerID, Int, Duration) async throws(LedgerError) -> [TakenShard]
    /// Renews, and notes the shards of which nothing is in hand; gives those that are still owned.
    package var renew:
        @Sendable (Lease, Duration, Set<Int16>) async throws(LedgerError) -> Set<Int16>
    package var release: @Sendable (Lease) async throws(LedgerError) -> Void
    package var leave: @Sendable (WorkerID) async throws(LedgerError) -> Void
    /// Reserves a stretch of the row of calls: for how many, how long.
    package var reserve: @Sendable (AppKey, Int, Duration) async throws(LedgerError) -> Reservation
    /// Lets no worker call an app's store for a while.
    package var block: @Sendable (AppKey, Duration) async throws(LedgerError) -> Void
    /// Waits for news of due purchases; gives the lane, or nil when it may be any.
    package var news: (@Sendable () async throws(LedgerError) -> Int32?)?
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
        lanes: @escaping @Sendable (WorkerID) async throws(LedgerError) -> ConfiguredLanes,
        heads: @escaping @Sendable ([Lane], [Int16], Int64) async throws(LedgerError) -> QueueHeads,
        claim: @escaping @Sendable (Lane, [Place], Int, Int) async throws(LedgerError) -> [Claim],
        suspects: @escaping @Sendable ([Lane], [Int16]) async throws(LedgerError) -> [Claim],
        mark: @escaping @Sendable ([Int16: [Int64]], Lease) async throws(LedgerError) -> Set<Int16>,
        commit:
            @escaping @Sendable ([Outcome], Lease, Timestamp) async throws(LedgerError) ->
            CommitReport,
        beat: @escaping @Sendable (WorkerID, Duration) async throws(LedgerError) -> Int,
        take:
            @escaping @Sendable (WorkerID, Int, Duration) async throws(LedgerError) -> [TakenShard],
        renew:
            @escaping @Sendable (Lease, Duration, Set<Int16>) async throws(LedgerError) -> Set<
                Int16
            >,
        release: @escaping @Sendable (Lease) async throws(LedgerError) -> Void,
        leave: @escaping @Sendable (WorkerID) async throws(LedgerError) -> Void,
        reserve:
            @escaping @Sendable (AppKey, Int, Duration) async throws(LedgerError) -> Reservation,
        block: @escaping @Sendable (AppKey, Duration) async throws(LedgerError) -> Void,
        news: (@Sendable () async throws(LedgerError) -> Int32?)? = nil,
        committed: @escaping @Sendable (CommitReport) -> Void = { _ in }
    ) {
        self.ask = ask
        self.lanes = lanes
        self.heads = heads
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
