/// The lanes of the apps that a worker has configured.
package struct ConfiguredLanes: Hashable, Sendable {
    package let lanes: [Lane]
    /// Those of which a person lets nobody ask the store.
    package let paused: Set<AppKey>
    /// The highest number that any app has, configured or not: what is above it is new.
    package let highest: Int32
    /// Those of the worker's that could not be given a lane: another session is about to do so.
    package var waiting: [AppKey] = []
    /// Those that some worker has configured and another one has not.
    package var uneven: [UnevenApp] = []
    /// How they take turns then; nil where all have the same.
    package var turns: WorkerTurns?

    package init(lanes: [Lane], paused: Set<AppKey> = [], highest: Int32) {
        self.lanes = lanes
        self.paused = paused
        self.highest = highest
    }
}

/// An app that some worker has configured and another one has not, of those that are alive.
package struct UnevenApp: Hashable, Sendable {
    package let app: AppKey
    /// Whether the worker that asks is one of those who lack it.
    package let isLacking: Bool
    /// The names of the workers that lack it.
    package let without: [String]

    package init(_ app: AppKey, isLacking: Bool, without: [String]) {
        self.app = app
        self.isLacking = isLacking
        self.without = without
    }
}

/// How workers with different apps take turns: those that are alive, in an order that all know.
package struct WorkerTurns: Hashable, Sendable {
    package let workers: Int
    /// Of the worker that asks, from 0.
    package let place: Int
    /// The database's time.
    package let now: Timestamp

    package init(workers: Int, place: Int, now: Timestamp) {
        self.workers = workers
        self.place = place
        self.now = now
    }
}

/// What to claim of one app: due purchases, the oldest of each shard first.
package struct ClaimRequest: Hashable, Sendable {
    package var lane: Lane
    /// The shards, and where to go on in each.
    package var places: [Place]
    /// Likewise of what waits behind all that is due, which is taken when less is due than asked.
    package var backfill: [Place]
    /// Most of one shard.
    package var perShard: Int
    /// Most in all.
    package var limit: Int

    package init(
        _ lane: Lane, from places: [Place], behind backfill: [Place] = [], perShard: Int, limit: Int
    ) {
        self.lane = lane
        self.places = places
        self.backfill = backfill
        self.perShard = perShard
        self.limit = limit
    }
}

/// When the first purchase of each lane is due.
package struct QueueHeads: Hashable, Sendable {
    /// The database's time of the look.
    package let now: Timestamp
    /// By lane; nil where nothing is scheduled.
    package let dueAt: [Int32: Timestamp]
    /// Purchases of any lane that were submitted lately.
    package let arrivals: [Arrival]

    package init(now: Timestamp, dueAt: [Int32: Timestamp], arrivals: [Arrival] = []) {
        self.now = now
        self.dueAt = dueAt
        self.arrivals = arrivals
    }
}

/// A purchase that was submitted.
package struct Arrival: Hashable, Sendable {
    package let id: Int64
    package let lane: Int32

    package init(id: Int64, lane: Int32) {
        self.id = id
        self.lane = lane
    }
}

/// A stretch of the row of calls of a bucket, asked for.
package struct CallRequest: Hashable, Sendable {
    package let bucket: BucketID
    package let stretch: Duration
    /// Nothing is reserved that begins later than so long from now.
    package let horizon: Duration
    /// Who waits at a terminal goes before all that is not reserved yet.
    package let isUrgent: Bool

    package init(
        _ stretch: Duration, of bucket: BucketID, within horizon: Duration, isUrgent: Bool = false
    ) {
        self.bucket = bucket
        self.stretch = stretch
        self.horizon = horizon
        self.isUrgent = isUrgent
    }
}

/// The end of a reserved stretch, which nobody needs any more.
package struct UnusedCalls: Hashable, Sendable {
    package let bucket: BucketID
    package let stretch: Duration
    /// When the stretch ends that it is a part of: it goes back only while no other follows.
    package let reservedUntil: Timestamp

    package init(_ stretch: Duration, of bucket: BucketID, reservedUntil: Timestamp) {
        self.bucket = bucket
        self.stretch = stretch
        self.reservedUntil = reservedUntil
    }
}

/// What came of asking for places in the row of calls that all workers share.
package enum Reservation: Hashable, Sendable {
    /// The first place comes after so long; the stretch ends then, by the database's clock.
    case granted(in: Duration, until: Timestamp)
    /// There is none yet.
    case askAgain(in: Duration)
    /// A person lets nobody ask the store.
    case paused
}
