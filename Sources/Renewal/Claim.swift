/// A due purchase of a shard that this worker holds, with the marks by which the database knows
/// at the commit that nothing has moved meanwhile.
package struct Claim: Hashable, Sendable {
    @Boxed package internal(set) var purchase: Purchase
    /// The purchase's own, beside it: to read one is not to copy the other.
    package let purchaseID: Int64
    package let shard: Int16
    /// The app's number: each app has its own queue, so that one cannot hold up another.
    package let lane: Int32
    /// When it was due. Compared at the commit: a purchase that was made due anew is asked again.
    package let dueAt: Timestamp
    /// Compared at the commit: facts that were changed by another are not overwritten.
    package let version: Int64
    /// Checks without a verdict in a row.
    package let attempts: Int
    /// Times the process has ended while this purchase was in hand.
    package let crashes: Int
    /// When the last verdict was heard.
    package let checkedAt: Timestamp?
    /// The newest time at which the store stated anything of it (design rule 11).
    package var statedAt: Timestamp?
    /// Tells whether what was heard last is kept already, for these facts; nil where nothing is.
    package var heardMark: Int64?
    /// Its token is at rest in clear, or encrypted for another purchase of which it is a copy.
    package var lacksSeal = false
    /// Since when a store has been asked in vain; nil after an answer that settles it.
    package var inVain: Vain? {
        didSet { purchase.inVainSince = inVain?.since }
    }
    /// What was wrong with the last check, as `Problem` describes itself; nil when nothing was.
    package let problem: String?
    /// The database's time of the claim; for one that has waited for its call, of the call.
    package internal(set) var claimedAt: Timestamp

    package init(
        purchase: Purchase, shard: Int16, lane: Int32, dueAt: Timestamp, version: Int64,
        attempts: Int, crashes: Int, checkedAt: Timestamp?, problem: String? = nil,
        claimedAt: Timestamp
    ) {
        var purchase = purchase
        purchase.checkedAt = checkedAt
        self.purchase = purchase
        purchaseID = purchase.id
        self.shard = shard
        self.lane = lane
        self.dueAt = dueAt
        self.version = version
        self.attempts = attempts
        self.crashes = crashes
        self.checkedAt = checkedAt
        self.problem = problem
        self.claimedAt = claimedAt
    }
}

extension Claim {
    /// The same claim, which goes on at a later time.
    ///
    /// - Parameter now: by the database's clock.
    /// - Returns: the claim as if it had been made then.
    package func going(on now: Timestamp) -> Claim {
        var claim = self
        claim.claimedAt = max(claimedAt, now)
        return claim
    }

    /// It was imported and waits behind all that is due.
    package var isBackfill: Bool { dueAt >= .backfill && dueAt < .never }
}

/// Shards that a worker owns, and the epoch of each: the fence of its commits.
package struct Lease: Hashable, Sendable {
    /// Drawn at random at each start of the process: 16 bytes.
    package let worker: WorkerID
    package var epochs: [Int16: Int64]

    package init(worker: WorkerID, epochs: [Int16: Int64] = [:]) {
        self.worker = worker
        self.epochs = epochs
    }
}

package struct WorkerID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static func random() -> WorkerID {
        WorkerID(
            high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }
}

/// A shard that has just been leased.
package struct TakenShard: Hashable, Sendable {
    package let shard: Int16
    package let epoch: Int64
    /// Purchases that the last owner had in hand when it ended without giving the shard back.
    package let suspects: [Int64]

    package init(shard: Int16, epoch: Int64, suspects: [Int64]) {
        self.shard = shard
        self.epoch = epoch
        self.suspects = suspects
    }
}

/// Where a claim goes on in a shard.
package struct Place: Hashable, Sendable {
    package let shard: Int16
    package var dueAt: Timestamp
    package var id: Int64

    package static func start(of shard: Int16) -> Place {
        Place(shard: shard, dueAt: Timestamp(microsecondsSinceEpoch: 0), id: 0)
    }

    /// Before the first of what waits behind all that is due.
    package static func startOfBackfill(of shard: Int16) -> Place {
        Place(shard: shard, dueAt: .backfill, id: 0)
    }

    package init(shard: Int16, dueAt: Timestamp, id: Int64) {
        self.shard = shard
        self.dueAt = dueAt
        self.id = id
    }
}

/// One app as the ledger numbers it.
package struct Lane: Hashable, Sendable {
    package let number: Int32
    package let app: AppKey

    package init(number: Int32, app: AppKey) {
        self.number = number
        self.app = app
    }
}
