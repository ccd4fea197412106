import Renewal

/// Lets workers take turns where they have configured different apps: of what is due in a shard its
/// worker serves its own apps alone. By the database's clock each shard is each worker's for a
/// turn; whoever lacks an app that another one has takes a shard in its own turn alone, and gives
/// it back after that. Who lacks none keeps what it takes. Pure.
struct ShardTurns {
    typealias Instant = ContinuousClock.Instant

    /// How long a shard is one worker's.
    static let turn = Duration.seconds(10)
    /// How often is looked whose turn it is.
    static let look = Duration.seconds(2)

    private var turns: WorkerTurns?
    private var learntAt = Instant.now
    private var lacksApps = false
    /// Whether this was told; at a roll-out they differ for a moment.
    private var hasTold = false

    /// Whether workers have different apps. Nobody has a share of the shards then.
    var areTaken: Bool { turns != nil }

    /// Enters what the workers that are alive have configured.
    ///
    /// - Returns: apps that this worker lacks, when that is to be told: once, when it has lasted.
    mutating func learn(_ lanes: ConfiguredLanes, at now: Instant) -> [AppKey] {
        let lacking = lanes.uneven.filter(\.isLacking).map(\.app)
        let hasLasted = !lacking.isEmpty && lacksApps
        turns = lanes.turns
        learntAt = now
        lacksApps = !lacking.isEmpty
        if lacking.isEmpty { hasTold = false }
        guard hasLasted, !hasTold else { return [] }
        hasTold = true
        return lacking
    }

    /// Those of all shards that this worker may hold now; nil is any.
    func own(of shards: Range<Int16>, at now: Instant) -> Set<Int16>? {
        guard lacksApps, let turns, turns.workers > 0 else { return nil }
        let time = (turns.now + (now - learntAt)).microsecondsSinceEpoch
        let number = Int(time / Self.turn.microseconds)
        return Set(shards.filter { (Int($0) + number) % turns.workers == turns.place })
    }
}
