import Postgres
package import Renewal

/// What `renewald status` shows.
package struct QueueStatus: Hashable, Sendable {
    package struct App: Hashable, Sendable {
        package let key: AppKey
        /// Whether a worker has it in its configuration; nil before any has looked.
        package let isConfigured: Bool?
        package var purchases: Int64
        package var due: Int64
        package var oldestDueAt: Timestamp?
        package var nextDueAt: Timestamp?
        package var lastVerdictAt: Timestamp?
        package var setAside: Int64
        /// Purchases with a problem, by its code.
        package var problems: [Problem.Code: Int64] = [:]
        /// Over the revokes of a day; nil when there was none.
        package var lag: Lag?
        /// The same by what has changed, in the words of `renewald plan`, and from the submission
        /// to the first grant (`purchase`).
        package var lags: [ChangeLag] = []
        /// Nil where nothing was imported.
        package var backfill: Backfill?
    }

    /// What was imported since nothing waited last.
    package struct Backfill: Hashable, Sendable {
        package let imported: Int64
        /// Not asked about yet.
        package var left: Int64
        package let startedAt: Timestamp

        package var done: Int64 { max(imported - left, 0) }

        package init(imported: Int64, left: Int64, startedAt: Timestamp) {
            self.imported = imported
            self.left = left
            self.startedAt = startedAt
        }

        /// As long as it takes by the pace so far, and by the calls that may be made: the longer.
        package func timeLeft(at now: Timestamp, callsPerSecond: Double) -> Duration {
            let byQuota = Duration.seconds(Double(left) / max(callsPerSecond, 0.001))
            guard done > 0, left > 0 else { return left > 0 ? byQuota : .zero }
            return max(byQuota, (now - startedAt) * (Double(left) / Double(done)))
        }
    }

    /// From the time of a change to our commit of it, over the events of a day.
    package struct Lag: Hashable, Sendable {
        package let events: Int64
        package let p50: Duration
        package let p99: Duration
    }

    package struct ChangeLag: Hashable, Sendable {
        /// Such as `payment_failure`.
        package let change: String
        package let lag: Lag
    }

    package struct Worker: Hashable, Sendable {
        package let name: String
        package let startedAt: Timestamp
        package let shards: Int64
    }

    /// How many purchases of an app have a problem.
    package struct ProblemCount: Hashable, Sendable {
        package let app: AppKey
        package let code: Problem.Code
        package let purchases: Int64

        package init(app: AppKey, code: Problem.Code, purchases: Int64) {
            self.app = app
            self.code = code
            self.purchases = purchases
        }
    }

    package struct Bucket: Hashable, Sendable {
        package let name: BucketID
        /// How far ahead of now calls are reserved.
        package let aheadSeconds: Double
        /// When this was read, and up to when calls are given away.
        package let readAt: Timestamp
        package let freeAt: Timestamp
        /// The store has asked for no calls until then.
        package let blockedUntil: Timestamp?
        /// Since when a person lets nobody ask the store.
        package let pausedAt: Timestamp?
    }

    /// Where news is pulled from.
    package struct Source: Hashable, Sendable {
        package let name: SourceID
        /// When news, or that there is none, was last stored; nil when it was never read.
        package let readAt: Timestamp?
        /// Pulls in a row that have failed since.
        package let failures: Int
        package let problem: String?
        /// Notifications that are read, and of which none has come within a month.
        package let isSilent: Bool

        package init(
            name: SourceID, readAt: Timestamp?, failures: Int, problem: String?,
            isSilent: Bool = false
        ) {
            self.isSilent = isSilent
            self.name = name
            self.readAt = readAt
            self.failures = failures
            self.problem = problem
        }
    }

    /// A type of news that nobody handles.
    package struct Unhandled: Hashable, Sendable {
        package let source: String
        package let type: String
        /// Whether it is known to be of no use.
        package let isExpected: Bool
        package let count: Int64
        package let lastSeenAt: Timestamp

        package init(
            source: String, type: String, isExpected: Bool, count: Int64, lastSeenAt: Timestamp
        ) {
            self.source = source
            self.type = type
            self.isExpected = isExpected
            self.count = count
            self.lastSeenAt = lastSeenAt
        }
    }

    package var apps: [App] = []
    package var unhandled: [Unhandled] = []
    package var workers: [Worker] = []
    package var buckets: [Bucket] = []
    package var sources: [Source] = []
    package var refunds: [RefundStatus] = []
    package var breakers: [BreakerStanding] = []
    /// The keys of the configuration that data keys are kept with, oldest first.
    package var keysInUse: [KeyID] = []
    package var now = Timestamp.never
}

extension PostgresLedger {
    /// How long a statement may take that reads a whole fleet.
    package static let longestRead = Duration.seconds(60)

    /// Reads the whole queue: for people, not for the hot path.
    package func status(under policy: Policy = Policy()) async throws(LedgerError) -> QueueStatus {
        let breakers = try await breakers(window: policy.breaker.window)
        return try await attempt {
            let results = try await self.reads.pipeline([
                SQL.statusQueue(), SQL.statusWorkers(), SQL.statusBuckets(),
                SQL.statusLag(.int64(policy.leniency.microseconds)), SQL.statusSources(), SQL.now(),
                SQL.statusUnhandled(), SQL.statusRefunds(), SQL.dataKeyOwners(),
            ])
            var status = QueueStatus()
            status.breakers = breakers
            status.now = try results[5][0].instant("now")
            status.unhandled = try results[6].rows.map(QueueStatus.Unhandled.init)
            status.apps = try QueueStatus.App.folded(results[0].rows)
            status.workers = try results[1].rows.map { row in
                QueueStatus.Worker(
                    name: try row.text("name"), startedAt: try row.instant("started_at"),
                    shards: try row.int64("shards"))
            }
            status.buckets = try results[2].rows.map(QueueStatus.Bucket.init)
            for row in results[3].rows {
                let key = try row.app()
                guard let index = status.apps.firstIndex(where: { $0.key == key }) else { continue }
                let lag = QueueStatus.Lag(
                    events: try row.int64("count"),
                    p50: .milliseconds(try row.float64("p50_ms")),
                    p99: .milliseconds(try row.float64("p99_ms")))
                if let change = try row.optionalText("change") {
                    status.apps[index].lags.append(.init(change: change, lag: lag))
                } else {
                    status.apps[index].lag = lag
                }
            }
            status.sources = try results[4].rows.map(QueueStatus.Source.init)
            status.refunds = try results[7].rows.map(RefundStatus.init)
            status.keysInUse = try results[8].rows.map { KeyID(bytes: try $0.bytes("key_id")) }
            return status
        }
    }

    /// Reads where news is pulled from, and what of it nobody handles, with the time of the
    /// reading.
    package func newsSources() async throws(LedgerError) -> (
        [QueueStatus.Source], unhandled: [QueueStatus.Unhandled], now: Timestamp
    ) {
        try await attempt {
            let results = try await self.reads.pipeline([
                SQL.statusSources(), SQL.statusUnhandled(), SQL.now(),
            ])
            return (
                try results[0].rows.map(QueueStatus.Source.init),
                unhandled: try results[1].rows.map(QueueStatus.Unhandled.init),
                now: try results[2][0].instant("now")
            )
        }
    }

    /// Reads which problems purchases have: for people, not for the hot path.
    package func problems() async throws(LedgerError) -> [QueueStatus.ProblemCount] {
        try await attempt {
            let rows = try await self.reads.query(SQL.statusQueue()).rows
            return try QueueStatus.App.folded(rows).flatMap(\.problemCounts)
        }
    }

    /// Reads the quota buckets alone: twice, a moment apart, they tell how much is used.
    package func buckets() async throws(LedgerError) -> [QueueStatus.Bucket] {
        try await attempt {
            try await self.reads.pipeline([SQL.statusBuckets()])[0].rows.map(
                QueueStatus.Bucket.init)
        }
    }

    /// Reads how much is due, from the queue's index: cheap, however long the queue is.
    package func queueDepth() async throws(LedgerError) -> QueueDepth {
        try await attempt {
            let rows = try await self.reads.pipeline([SQL.queueDepth()])[0].rows
            return QueueDepth(
                apps: try rows.map { row in
                    let oldest = try row.optionalInstant("oldest_due_at")
                    let now = try row.instant("now")
                    let waiting = try row.optionalInt64("waiting")
                    return QueueDepth.App(
                        key: try row.app(), due: try row.int64("due"),
                        oldest: oldest.map { now - $0 } ?? .zero,
                        backfill: try row.optionalInt64("imported").map { imported in
                            QueueDepth.Backfill(imported: imported, left: waiting ?? 0)
                        })
                })
        }
    }
}

extension PostgresLedger {
    /// Apps that were submitted for and are not among the given, with the number of their
    /// purchases: those with most first.
    package func appsBeside(
        _ configured: [AppKey]
    ) async throws(LedgerError) -> [(app: AppKey, purchases: Int64)] {
        try await attempt {
            try await self.reads.query(
                SQL.strangeApps(
                    .texts(configured.map(\.store.rawValue)), .texts(configured.map(\.id)))
            ).rows.map { (try $0.app(), try $0.int64("purchases")) }
        }
    }
}

/// A product that is granted without an end, as no duration is configured for it.
package struct EndlessProduct: Hashable, Sendable {
    package let app: AppKey
    package let product: ProductID
    package let purchases: Int64

    package init(app: AppKey, product: ProductID, purchases: Int64) {
        self.app = app
        self.product = product
        self.purchases = purchases
    }
}

extension PostgresLedger {
    /// Those with most purchases first: twenty at most.
    package func endlessProducts() async throws(LedgerError) -> [EndlessProduct] {
        try await attempt {
            try await self.reads.query(SQL.endlessProducts()).rows.map { row in
                EndlessProduct(
                    app: try row.app(), product: ProductID(try row.text("product")),
                    purchases: try row.int64("purchases"))
            }
        }
    }
}

/// How much is due now.
package struct QueueDepth: Hashable, Sendable {
    package struct App: Hashable, Sendable {
        package let key: AppKey
        package let due: Int64
        /// For how long the oldest has been due; zero when nothing is.
        package let oldest: Duration
        /// Nil where nothing was imported.
        package let backfill: Backfill?
    }

    /// What was imported since nothing waited last, and how much of it nobody has asked about yet.
    package struct Backfill: Hashable, Sendable {
        package let imported: Int64
        package let left: Int64

        package init(imported: Int64, left: Int64) {
            self.imported = imported
            self.left = left
        }
    }

    package let apps: [App]
}

extension QueueStatus.Source {
    fileprivate init(_ row: PostgresRow) throws(PostgresError) {
        name = try row.text("source")
        readAt = try row.optionalInstant("pulled_at")
        failures = Int(try row.int32("failures"))
        problem = try row.optionalText("problem")
        isSilent = try row.bool("is_silent")
    }
}

extension QueueStatus.Unhandled {
    fileprivate init(_ row: PostgresRow) throws(PostgresError) {
        self.init(
            source: try row.text("source"), type: try row.text("type"),
            isExpected: try row.bool("expected"), count: try row.int64("count"),
            lastSeenAt: try row.instant("last_seen_at"))
    }
}

extension QueueStatus.Bucket {
    init(_ row: PostgresRow) throws(PostgresError) {
        self.init(
            name: try row.text("bucket"), aheadSeconds: try row.float64("ahead_seconds"),
            readAt: try row.instant("now"), freeAt: try row.instant("free_at"),
            blockedUntil: try row.optionalInstant("blocked_until"),
            pausedAt: try row.optionalInstant("paused_at"))
    }
}
