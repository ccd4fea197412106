import Postgres

/// The statements of the folder `Queries`, built into the program. Each is prepared once for each
/// connection, under the name of its file.
struct SQL: Sendable {
    let name: String
    private let text: String

    private init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        text = String(decoding: bytes, as: UTF8.self)
    }

    func callAsFunction(_ parameters: PostgresValue...) -> PostgresStatement {
        PostgresStatement(text, parameters, name: name)
    }

    /// For statements that must not be prepared: they run once.
    func once(_ parameters: PostgresValue...) -> PostgresStatement {
        PostgresStatement(text, parameters)
    }

    func with(_ parameters: [PostgresValue]) -> PostgresStatement {
        PostgresStatement(text, parameters, name: name)
    }

    /// How the server would run it. Not prepared, and nothing of it is run.
    func plan(_ parameters: PostgresValue...) -> PostgresStatement {
        PostgresStatement("EXPLAIN (COSTS OFF)\n" + text, parameters, isReadOnly: true)
    }

    static let appOfLane = SQL("app_of_lane", PackageResources.app_of_lane_sql)
    static let apps = SQL("apps", PackageResources.apps_sql)
    static let beatWorker = SQL("beat_worker", PackageResources.beat_worker_sql)
    static let blockBucket = SQL("block_bucket", PackageResources.block_bucket_sql)
    static let bookAccounts = SQL("book_accounts", PackageResources.book_accounts_sql)
    static let bookEntitlements = SQL("book_entitlements", PackageResources.book_entitlements_sql)
    static let bookOffers = SQL("book_offers", PackageResources.book_offers_sql)
    static let bookPurchases = SQL("book_purchases", PackageResources.book_purchases_sql)
    static let claimDue = SQL("claim_due", PackageResources.claim_due_sql)
    static let claimPulls = SQL("claim_pulls", PackageResources.claim_pulls_sql)
    static let commitAccounts = SQL("commit_accounts", PackageResources.commit_accounts_sql)
    static let commitClues = SQL("commit_clues", PackageResources.commit_clues_sql)
    static let commitCopies = SQL("commit_copies", PackageResources.commit_copies_sql)
    static let commitEntitlements = SQL(
        "commit_entitlements", PackageResources.commit_entitlements_sql)
    static let commitEvents = SQL("commit_events", PackageResources.commit_events_sql)
    static let commitEvidence = SQL("commit_evidence", PackageResources.commit_evidence_sql)
    static let commitFence = SQL("commit_fence", PackageResources.commit_fence_sql)
    static let commitMoves = SQL("commit_moves", PackageResources.commit_moves_sql)
    static let commitNewcomers = SQL("commit_newcomers", PackageResources.commit_newcomers_sql)
    static let commitNotify = SQL("commit_notify", PackageResources.commit_notify_sql)
    static let commitOffers = SQL("commit_offers", PackageResources.commit_offers_sql)
    static let commitOriginalKeys = SQL(
        "commit_original_keys", PackageResources.commit_original_keys_sql)
    static let commitPull = SQL("commit_pull", PackageResources.commit_pull_sql)
    static let commitPurchases = SQL("commit_purchases", PackageResources.commit_purchases_sql)
    static let commitSchedule = SQL("commit_schedule", PackageResources.commit_schedule_sql)
    static let commitSuccessors = SQL(
        "commit_successors", PackageResources.commit_successors_sql)
    static let commitTokens = SQL("commit_tokens", PackageResources.commit_tokens_sql)
    static let commitTwins = SQL("commit_twins", PackageResources.commit_twins_sql)
    static let configureLanes = SQL("configure_lanes", PackageResources.configure_lanes_sql)
    static let countWorkers = SQL("count_workers", PackageResources.count_workers_sql)
    static let doctorEvents = SQL("doctor_events", PackageResources.doctor_events_sql)
    static let doctorHas = SQL("doctor_has", PackageResources.doctor_has_sql)
    static let doctorHolders = SQL("doctor_holders", PackageResources.doctor_holders_sql)
    static let doctorIndexes = SQL("doctor_indexes", PackageResources.doctor_indexes_sql)
    static let doctorPlanSettings = SQL(
        "doctor_plan_settings", PackageResources.doctor_plan_settings_sql)
    static let doctorRights = SQL("doctor_rights", PackageResources.doctor_rights_sql)
    static let doctorServer = SQL("doctor_server", PackageResources.doctor_server_sql)
    static let doctorTables = SQL("doctor_tables", PackageResources.doctor_tables_sql)
    static let dropOffers = SQL("drop_offers", PackageResources.drop_offers_sql)
    static let eventsAfter = SQL("events_after", PackageResources.events_after_sql)
    static let findOlderLinks = SQL("find_older_links", PackageResources.find_older_links_sql)
    static let findOriginalKeys = SQL(
        "find_original_keys", PackageResources.find_original_keys_sql)
    static let findSuccessors = SQL("find_successors", PackageResources.find_successors_sql)
    static let keepPulls = SQL("keep_pulls", PackageResources.keep_pulls_sql)
    static let lastEvent = SQL("last_event", PackageResources.last_event_sql)
    static let leaveWorker = SQL("leave_worker", PackageResources.leave_worker_sql)
    static let lockMigrations = SQL("lock_migrations", PackageResources.lock_migrations_sql)
    static let lockedClaims = SQL("locked_claims", PackageResources.locked_claims_sql)
    static let markInHand = SQL("mark_in_hand", PackageResources.mark_in_hand_sql)
    static let marks = SQL("marks", PackageResources.marks_sql)
    static let notePulls = SQL("note_pulls", PackageResources.note_pulls_sql)
    static let notifyDue = SQL("notify_due", PackageResources.notify_due_sql)
    static let now = SQL("now", PackageResources.now_sql)
    static let openBucket = SQL("open_bucket", PackageResources.open_bucket_sql)
    static let ownedShards = SQL("owned_shards", PackageResources.owned_shards_sql)
    static let pruneClues = SQL("prune_clues", PackageResources.prune_clues_sql)
    static let pruneHeardHints = SQL(
        "prune_heard_hints", PackageResources.prune_heard_hints_sql)
    static let pruneUnclaimedHints = SQL(
        "prune_unclaimed_hints", PackageResources.prune_unclaimed_hints_sql)
    static let purchaseEvidence = SQL(
        "purchase_evidence", PackageResources.purchase_evidence_sql)
    static let queueArrivals = SQL("queue_arrivals", PackageResources.queue_arrivals_sql)
    static let queueDepth = SQL("queue_depth", PackageResources.queue_depth_sql)
    static let queueHeads = SQL("queue_heads", PackageResources.queue_heads_sql)
    static let recordMigration = SQL("record_migration", PackageResources.record_migration_sql)
    static let registerApps = SQL("register_apps", PackageResources.register_apps_sql)
    static let releaseShards = SQL("release_shards", PackageResources.release_shards_sql)
    static let renewShards = SQL("renew_shards", PackageResources.renew_shards_sql)
    static let reserveCalls = SQL("reserve_calls", PackageResources.reserve_calls_sql)
    static let rotateEvidence = SQL("rotate_evidence", PackageResources.rotate_evidence_sql)
    static let schemaExists = SQL("schema_exists", PackageResources.schema_exists_sql)
    static let schemaVersion = SQL("schema_version", PackageResources.schema_version_sql)
    static let setAside = SQL("set_aside", PackageResources.set_aside_sql)
    static let shardsOf = SQL("shards_of", PackageResources.shards_of_sql)
    static let statusBuckets = SQL("status_buckets", PackageResources.status_buckets_sql)
    static let statusLag = SQL("status_lag", PackageResources.status_lag_sql)
    static let statusProblems = SQL("status_problems", PackageResources.status_problems_sql)
    static let statusQueue = SQL("status_queue", PackageResources.status_queue_sql)
    static let statusSources = SQL("status_sources", PackageResources.status_sources_sql)
    static let statusWorkers = SQL("status_workers", PackageResources.status_workers_sql)
    static let strangeApps = SQL("strange_apps", PackageResources.strange_apps_sql)
    static let suspectLanes = SQL("suspect_lanes", PackageResources.suspect_lanes_sql)
    static let takeHints = SQL("take_hints", PackageResources.take_hints_sql)
    static let takeShards = SQL("take_shards", PackageResources.take_shards_sql)
    static let tellLanes = SQL("tell_lanes", PackageResources.tell_lanes_sql)
    static let userClaims = SQL("user_claims", PackageResources.user_claims_sql)
    static let userEntitlements = SQL(
        "user_entitlements", PackageResources.user_entitlements_sql)
    static let userEvents = SQL("user_events", PackageResources.user_events_sql)
    static let usersOfOrder = SQL("users_of_order", PackageResources.users_of_order_sql)
    static let usersOfOrderScan = SQL(
        "users_of_order_scan", PackageResources.users_of_order_scan_sql)
}
