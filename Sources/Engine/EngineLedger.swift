package import Renewal

/// The database side as the engine needs it. What is told under a lease is refused when another
/// worker has the shard meanwhile.
package protocol EngineLedger: Sendable {
    /// Says which apps the worker has configured; gives their queues.
    func configure(
        _ apps: [AppKey], by worker: WorkerID
    ) async throws(LedgerError) -> ConfiguredLanes

    /// When the first purchase of each queue is due in the given shards, and which purchases have
    /// come there after the given id.
    func heads(
        of lanes: [Lane], in shards: [Int16], after id: Int64
    ) async throws(LedgerError) -> QueueHeads
    func claim(_ request: ClaimRequest) async throws(LedgerError) -> [Claim]
    /// Those that became due last: the places say which shards, and no more.
    func latest(_ request: ClaimRequest) async throws(LedgerError) -> [Claim]
    /// When the oldest claim of a queue is due in each of the shards that have any.
    func fronts(
        of lane: Lane, in shards: [Int16]
    ) async throws(LedgerError) -> [Int16: Timestamp]
    /// Due claims that were in hand when a process ended.
    func suspects(of lanes: [Lane], in shards: [Int16]) async throws(LedgerError) -> [Claim]
    /// Notes what is in hand, by shard; gives the shards that are still owned.
    func mark(
        _ inFlight: [Int16: [Int64]], under lease: Lease
    ) async throws(LedgerError) -> Set<Int16>
    /// Commits outcomes whole or not at all. Without a lease the versions alone decide.
    func commit(
        _ outcomes: [Outcome], under lease: Lease?, at now: Timestamp
    ) async throws(LedgerError) -> CommitReport

    /// Says that the worker is alive; gives the number of workers.
    func beat(_ worker: WorkerID, name: String, lease: Duration) async throws(LedgerError) -> Int
    /// Leases free shards, so many at most, and only of those that are given.
    func takeShards(
        _ worker: WorkerID, limit: Int, lease: Duration, among shards: [Int16]?
    ) async throws(LedgerError) -> [TakenShard]
    /// Renews, and notes the shards of which nothing is in hand; gives those still owned.
    func renew(
        _ lease: Lease, for duration: Duration, idle: Set<Int16>
    ) async throws(LedgerError) -> Set<Int16>
    func release(_ lease: Lease) async throws(LedgerError)
    func leave(_ worker: WorkerID) async throws(LedgerError)

    /// Reserves stretches of the rows of calls that all workers share, in one transaction; of each
    /// bucket one. An answer for each, in their order.
    func reserveCalls(_ requests: [CallRequest]) async throws(LedgerError) -> [Reservation]
    /// Gives back what is left of a stretch, for the next to reserve.
    func giveBackCalls(_ unused: UnusedCalls) async throws(LedgerError)
    /// Lets no worker call for a while.
    func block(_ bucket: BucketID, for duration: Duration) async throws(LedgerError)
}

/// Where hints are stored. A source of them is held by one worker at a time.
package protocol HintStore: Sendable {
    /// Tells and asks about all sources, in one transaction.
    func hintRound(
        _ round: HintRound, by worker: WorkerID
    ) async throws(LedgerError) -> HintTurns
    /// Stores a page, in one transaction. Nil when another worker has the source.
    func take(_ delivery: HintDelivery) async throws(LedgerError) -> HintReport?
    /// Forgets what is old of the hints that were taken in.
    func forgetOldHints() async throws(LedgerError)
}

/// Where what is not due is made due, with calls that nothing due needs.
package protocol SweepStore: Sendable {
    /// Makes a step of a sweep, in one transaction.
    func sweep(_ request: SweepRequest) async throws(LedgerError) -> SweepStep
    /// Makes due some of what was asked about last in the future, before the clock was set back,
    /// and tells of how many; zero where no more can be.
    func recall(_ lanes: [Lane]) async throws(LedgerError) -> Int
}

/// Where the stores' questions about refunds are kept.
package protocol RefundStore: Sendable {
    /// Says what `renewald.answer_refund` goes by.
    func follow(_ rule: RefundRule) async throws(LedgerError)
    /// Gives up what has come to its end, and gives what is to be sent for these apps.
    func refundRound(
        of apps: [AppKey], under rule: RefundRule
    ) async throws(LedgerError) -> RefundRound
    /// Writes down that an answer is about to be sent. False where somebody else was faster.
    func begin(_ attempt: RefundAttempt) async throws(LedgerError) -> Bool
    /// Writes down what came of it.
    func end(_ attempt: RefundAttempt, _ ending: RefundEnding) async throws(LedgerError)
}

/// Tells of due purchases as they come. A convenience: the poll finds them as well.
package protocol DueNews: Sendable {
    /// - Returns: the queue that has something due; nil when it may be any.
    func next() async throws(LedgerError) -> Int32?
}
