import Renewal

/// Passes shards on where workers have configured different apps: of what is due in a shard its
/// worker serves its own apps alone. Whoever lacks an app that another worker has keeps a shard for
/// a turn, gives it back, and takes none for a while, so that another one does. Pure.
struct ShardTurns {
    typealias Instant = ContinuousClock.Instant

    /// How long a shard is kept.
    static let turn = Duration.seconds(10)
    /// How long whoever has given shards back leaves them to others: a few polls.
    static let rest = Duration.seconds(5)

    /// The apps that workers do not have in common.
    private(set) var uneven: [UnevenApp] = []
    /// Whether these were told of; at a roll-out they differ for a moment.
    private var hasTold = false
    private var keptSince: [Int16: Instant] = [:]
    private var restsUntil: Instant?

    /// Whether all may take more than their share: some have to rest.
    var areTaken: Bool { !uneven.isEmpty }

    /// Enters what the workers that are alive have configured.
    ///
    /// - Returns: apps that this worker lacks, when that is to be told: once, when it has lasted.
    mutating func learn(_ apps: [UnevenApp]) -> [AppKey] {
        let lacking = apps.filter(\.isLacking).map(\.app)
        let hasLasted = !lacking.isEmpty && uneven.contains(where: \.isLacking)
        uneven = apps
        if lacking.isEmpty {
            hasTold = false
            keptSince = [:]
            restsUntil = nil
        }
        guard hasLasted, !hasTold else { return [] }
        hasTold = true
        return lacking
    }

    /// Of the shards that are held, those whose turn is over.
    mutating func over(of held: some Collection<Int16>, at now: Instant) -> Set<Int16> {
        guard uneven.contains(where: \.isLacking) else { return [] }
        keptSince = Dictionary(
            uniqueKeysWithValues: held.map { ($0, keptSince[$0] ?? now) })
        return Set(keptSince.lazy.filter { $0.value + Self.turn <= now }.map(\.key))
    }

    /// Some were given back.
    mutating func passedOn(at now: Instant) { restsUntil = now + Self.rest }

    func mayTake(at now: Instant) -> Bool { restsUntil.map { $0 <= now } ?? true }
}
