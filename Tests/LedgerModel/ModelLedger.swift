package import Renewal
import Synchronization

/// The ledger in memory: what the statements of `Sources/Ledger/Queries` come to, one at a time, with
/// the core's own book-keeping. A test compares it with the real one, step by step.
package final class ModelLedger: Sendable {
    let state: Mutex<ModelState>

    /// - Parameter now: the database's clock.
    package init(now: @escaping @Sendable () -> Timestamp) {
        state = Mutex(ModelState(clock: ModelClock(now: now)))
    }

    /// What is broken on purpose.
    package struct Breakage: Sendable {
        /// Neither leases nor versions are looked at.
        package var hasNoFence = false
        /// Reservations of calls are granted at once.
        package var hasNoRow = false
        /// Purchases that are never claimed.
        package var hidden: @Sendable (Int64) -> Bool = { _ in false }

        package init() {}
    }

    package func breaks(_ breakage: Breakage) { state.withLock { $0.breakage = breakage } }

    /// Hears of each commit, within it.
    package func tell(_ hear: @escaping @Sendable (ModelCommit) -> Void) {
        state.withLock { $0.listener = ModelListener(hear: hear) }
    }

    /// As `renewald.submit`. Gives the purchase's id.
    @discardableResult
    package func submit(
        _ user: UserID, _ app: AppKey, product: ProductID, token: StoreToken
    ) -> Int64 {
        state.withLock { $0.submit(user, app, product, token) }
    }

    /// As the real ledger has it, for the order in which a commit goes.
    package func tell(shard: Int16, of user: UserID) { state.withLock { $0.homes[user] = shard } }

    /// Makes every purchase due now, as if all were asked about for the first time.
    package func makeAllDue() {
        state.withLock { state in
            let now = state.now
            for id in state.rows.keys.sorted() { state.move(id, to: now) }
        }
    }

    package var rows: [ModelRow] { state.withLock { Array($0.rows.values) } }
    package func row(_ id: Int64) -> ModelRow? { state.withLock { $0.rows[id] } }
    package var accounts: [UserID: ModelAccount] { state.withLock(\.accounts) }
    package var eventCount: Int { state.withLock(\.eventCount) }
    package var firstDue: Timestamp? { state.withLock { $0.queue.first?.dueAt } }
    /// Shards that were taken over from a worker that had not left in order.
    package var takeovers: Int { state.withLock(\.takeovers) }
}

/// A closure in a mutex would be wrapped once more with each look at it.
struct ModelClock: Sendable { let now: @Sendable () -> Timestamp }
struct ModelListener: Sendable { let hear: @Sendable (ModelCommit) -> Void }

/// A purchase and its place in the schedule.
package struct ModelRow: Sendable {
    package var purchase: Purchase
    package var shard: Int16
    package let lane: Int32
    package var version: Int64 = 0
    package var dueAt: Timestamp
    package var attempts = 0
    package var crashes = 0
    package var checkedAt: Timestamp?
    package var statedAt: Timestamp?
    package var inVain: Vain?
    package var problem: String?
    /// Other users who have handed it in, the latest last.
    package var claimants: [Claimant] = []
    /// The one of them whose claim is not settled.
    package var claimedBy: UserID?

    package struct Claimant: Sendable {
        package let user: UserID
        package var at: Timestamp
    }
}

package struct ModelAccount: Sendable {
    package var version: Int64 = 0
    package var purchases: Set<Int64> = []
    package var entitlements: [EntitlementID: Entitlement] = [:]
    package var offers: [OfferID: Offer] = [:]
}

/// What one commit has changed.
package struct ModelCommit: Sendable {
    package let worker: WorkerID?
    package let now: Timestamp
    package var outcomes: [Outcome]
    /// Breakers that it has tripped.
    package var trips: [BreakerTrip] = []
    package var changes: [(before: Purchase, after: Purchase)] = []
    package var events: [Event] = []
}

struct ModelShard {
    var owner: WorkerID?
    var epoch: Int64 = 0
    var leaseUntil = Timestamp(microsecondsSinceEpoch: 0)
    var isClean = true
    var inHand: [Int64] = []
}

struct QueuePlace: Hashable, Comparable {
    let dueAt: Timestamp
    let id: Int64

    static func < (left: QueuePlace, right: QueuePlace) -> Bool {
        (left.dueAt, left.id) < (right.dueAt, right.id)
    }
}

struct ModelState {
    let clock: ModelClock
    var breakage = ModelLedger.Breakage()
    var listener: ModelListener?
    var rows: [Int64: ModelRow] = [:]
    var accounts: [UserID: ModelAccount] = [:]
    /// Shards that were told.
    var homes: [UserID: Int16] = [:]
    var shards = Array(repeating: ModelShard(), count: 256)
    var lanes: [Lane] = []
    var breakers: [Int32: ModelBreaker] = [:]
    var tokens: [TokenKey: Int64] = [:]
    var successors: [TokenKey: Int64] = [:]
    /// All that is scheduled, the first due first.
    var queue: [QueuePlace] = []
    var workers: [WorkerID: Timestamp] = [:]
    var buckets: [BucketID: ModelBucket] = [:]
    var sources: [SourceID: ModelSource] = [:]
    var heard: Set<NewsID> = []
    var eventCount = 0
    var takeovers = 0

    init(clock: ModelClock) { self.clock = clock }

    var now: Timestamp { clock.now() }

    struct TokenKey: Hashable, Comparable {
        let lane: Int32
        let token: StoreToken

        static func < (left: TokenKey, right: TokenKey) -> Bool {
            (left.lane, left.token) < (right.lane, right.token)
        }
    }

    /// Any share of the users will do.
    func shard(of user: UserID) -> Int16 {
        if let home = homes[user] { return home }
        var hash: UInt32 = 2_166_136_261
        for byte in user.text.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return Int16((hash ^ hash >> 16) & 0xFF)
    }

    mutating func lane(of app: AppKey) -> Int32 {
        if let lane = lanes.first(where: { $0.app == app }) { return lane.number }
        let number = Int32(lanes.count + 1)
        lanes.append(Lane(number: number, app: app))
        breakers[number] = ModelBreaker(countedSince: now)
        return number
    }

    mutating func submit(
        _ user: UserID, _ app: AppKey, _ product: ProductID, _ token: StoreToken
    ) -> Int64 {
        let key = TokenKey(lane: lane(of: app), token: token)
        if let known = tokens[key] {
            submitAgain(known, by: user)
            return known
        }
        let id = Int64(rows.count + 1)
        let (now, shard) = (self.now, shard(of: user))
        rows[id] = ModelRow(
            purchase: Purchase(
                id: id, userID: user, app: app, token: token, createdAt: now,
                facts: Facts(product: product)),
            shard: shard, lane: key.lane, dueAt: now)
        tokens[key] = id
        accounts[user, default: ModelAccount()].purchases.insert(id)
        insert(QueuePlace(dueAt: now, id: id))
        return id
    }

    /// The same token once more, as `renewald.submit_again`.
    private mutating func submitAgain(_ id: Int64, by user: UserID) {
        guard var row = rows[id] else { return }
        let facts = row.purchase.facts
        let isFine =
            facts.access == .granted && facts.state == .active && facts.doubt == nil
            && facts.expiresAt ?? .never > now
        if row.purchase.userID == user {
            if row.claimedBy != nil {
                row.claimedBy = nil
                row.version += 1
                rows[id] = row
            }
        } else if row.claimedBy != user {
            row.claimants.removeAll { $0.user == user }
            row.claimants.append(.init(user: user, at: now))
            row.claimedBy = user
            row.version += 1
            rows[id] = row
            return wake(id, after: .zero)
        }
        if !isFine { wake(id, after: .seconds(10)) }
    }

    private mutating func wake(_ id: Int64, after rest: Duration) {
        guard let row = rows[id] else { return }
        let rested = row.checkedAt.flatMap { $0 <= now + .minutes(1) ? $0 + rest : nil }
        let due = max(now, rested ?? now)
        guard row.dueAt > due else { return }
        move(id, to: due)
        rows[id]?.attempts = 0
        rows[id]?.crashes = 0
    }

    // MARK: The schedule

    mutating func insert(_ place: QueuePlace) {
        queue.insert(place, at: index(of: place))
    }

    mutating func remove(_ place: QueuePlace) {
        let index = index(of: place)
        if index < queue.count, queue[index] == place { queue.remove(at: index) }
    }

    mutating func move(_ id: Int64, to dueAt: Timestamp) {
        guard let old = rows[id]?.dueAt else { return }
        remove(QueuePlace(dueAt: old, id: id))
        rows[id]?.dueAt = dueAt
        insert(QueuePlace(dueAt: dueAt, id: id))
    }

    private func index(of place: QueuePlace) -> Int {
        var (low, high) = (0, queue.count)
        while low < high {
            let middle = (low + high) / 2
            if queue[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
