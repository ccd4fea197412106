import Postgres

/// The statements of the folder `Queries`, built into the program. Each is prepared once for each
/// connection.
struct SQL: Sendable {
    /// Under which it is prepared: a number made from the text.
    private let name: String
    private let text: String
    /// Of its parameters, where it gives them names.
    private let parameterNames: [String]

    private init(_ file: [UInt8]) {
        let statement = StatementText(file)
        text = statement.sql
        parameterNames = statement.names
        // FNV-1a.
        let number = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { number, byte in
            (number ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        name = "renewald_" + String(number, radix: 16)
    }

    /// For another use than the usual one.
    private init(_ file: [UInt8], _ name: String, is value: String) {
        let text = String(decoding: file, as: UTF8.self)
        self.init(Array(text.replacing("{\(name)}", with: value).utf8))
    }

    /// Values for `$1` onwards.
    func callAsFunction(_ parameters: PostgresValue...) -> PostgresStatement {
        with(parameters)
    }

    /// Values by their names, in any order: each that the file declares, once.
    func callAsFunction(
        _ values: KeyValuePairs<String, PostgresValue>,
        and further: [(key: String, value: PostgresValue)] = []
    ) -> PostgresStatement {
        var parameters = [PostgresValue?](repeating: nil, count: parameterNames.count)
        for (name, value) in Array(values) + further {
            guard let index = parameterNames.firstIndex(of: name), parameters[index] == nil
            else { preconditionFailure("no \(name), or twice: \(text)") }
            parameters[index] = value
        }
        let given = parameters.compactMap(\.self)
        precondition(given.count == parameterNames.count, "too little: \(text)")
        return with(given)
    }

    /// For statements that must not be prepared: they run once.
    func once(_ parameters: PostgresValue...) -> PostgresStatement {
        PostgresStatement(text, parameters)
    }

    func with(_ parameters: [PostgresValue]) -> PostgresStatement {
        PostgresStatement(text, parameters, name: name)
    }
}

extension SQL {
    static let accountPage = SQL(PackageResources.account_page_sql)
    static let adoptHints = SQL(PackageResources.adopt_hints_sql)
    static let adoptRefunds = SQL(PackageResources.adopt_refunds_sql)
    static let appOfLane = SQL(PackageResources.app_of_lane_sql)
    static let apps = SQL(PackageResources.apps_sql)
    static let beatWorker = SQL(PackageResources.beat_worker_sql)
    static let beginRefund = SQL(PackageResources.begin_refund_sql)
    static let blockBucket = SQL(PackageResources.block_bucket_sql)
    static let bookAccounts = SQL(PackageResources.book_accounts_sql)
    static let bookEntitlements = SQL(PackageResources.book_entitlements_sql)
    static let bookOffers = SQL(PackageResources.book_offers_sql)
    static let bookPurchases = SQL(PackageResources.book_purchases_sql)
    static let breakerCounts = SQL(PackageResources.breaker_counts_sql)
    static let breakerEnds = SQL(PackageResources.breaker_ends_sql)
    static let citusExists = SQL(PackageResources.citus_exists_sql)
    static let claimBackfill = SQL(PackageResources.claim_backfill_sql)
    static let claimDue = SQL(PackageResources.claim_due_sql)
    static let claimLatest = SQL(PackageResources.claim_latest_sql)
    /// A suspect was due when it was claimed. Where the clock was set back since, it is not, and
    /// nobody else would ask about it.
    static let claimSuspects = SQL(
        PackageResources.claim_due_sql, "due",
        is: "schedule.due_at <= now() + interval '1 day' AND schedule.crashes > 0")
    static let claimPulls = SQL(PackageResources.claim_pulls_sql)
    static let clashingRules = SQL(PackageResources.clashing_rules_sql)
    static let commitAccounts = SQL(PackageResources.commit_accounts_sql)
    static let commitClues = SQL(PackageResources.commit_clues_sql)
    static let commitCopies = SQL(PackageResources.commit_copies_sql)
    static let commitDataKey = SQL(PackageResources.commit_data_key_sql)
    static let commitEarlyHints = SQL(PackageResources.commit_early_hints_sql)
    static let commitEntitlements = SQL(PackageResources.commit_entitlements_sql)
    static let commitEvents = SQL(PackageResources.commit_events_sql)
    static let commitEvidence = SQL(PackageResources.commit_evidence_sql)
    static let commitFence = SQL(PackageResources.commit_fence_sql)
    static let commitHeld = SQL(PackageResources.commit_held_sql)
    static let commitClaimed = SQL(PackageResources.commit_claimed_sql)
    static let commitMoves = SQL(PackageResources.commit_moves_sql)
    static let commitNewcomers = SQL(PackageResources.commit_newcomers_sql)
    static let commitNotify = SQL(PackageResources.commit_notify_sql)
    static let commitObservations = SQL(PackageResources.commit_observations_sql)
    static let commitOffers = SQL(PackageResources.commit_offers_sql)
    static let commitOrderKeys = SQL(PackageResources.commit_order_keys_sql)
    static let commitOriginalKeys = SQL(PackageResources.commit_original_keys_sql)
    static let commitPull = SQL(PackageResources.commit_pull_sql)
    static let commitPurchases = SQL(PackageResources.commit_purchases_sql)
    static let commitRefundOutcomes = SQL(PackageResources.commit_refund_outcomes_sql)
    static let commitRefundPurchases = SQL(PackageResources.commit_refund_purchases_sql)
    static let commitSchedule = SQL(PackageResources.commit_schedule_sql)
    static let commitSeals = SQL(PackageResources.commit_seals_sql)
    static let commitSuccessors = SQL(PackageResources.commit_successors_sql)
    static let commitTokens = SQL(PackageResources.commit_tokens_sql)
    static let commitTrips = SQL(PackageResources.commit_trips_sql)
    static let commitDuplicates = SQL(PackageResources.commit_twins_sql)
    static let configureLanes = SQL(PackageResources.configure_lanes_sql)
    static let countLosses = SQL(PackageResources.count_losses_sql)
    static let countWorkers = SQL(PackageResources.count_workers_sql)
    static let dataKeyOwners = SQL(PackageResources.data_key_owners_sql)
    static let dataKeys = SQL(PackageResources.data_keys_sql)
    static let decisionPage = SQL(PackageResources.decision_page_sql)
    static let doctorEvents = SQL(PackageResources.doctor_events_sql)
    static let doctorHas = SQL(PackageResources.doctor_has_sql)
    static let doctorHolders = SQL(PackageResources.doctor_holders_sql)
    static let doctorIndexes = SQL(PackageResources.doctor_indexes_sql)
    static let doctorObjects = SQL(PackageResources.doctor_objects_sql)
    static let doctorPlanSettings = SQL(PackageResources.doctor_plan_settings_sql)
    static let serverEncoding = SQL(PackageResources.server_encoding_sql)
    static let doctorRights = SQL(PackageResources.doctor_rights_sql)
    static let doctorServer = SQL(PackageResources.doctor_server_sql)
    static let doctorTables = SQL(PackageResources.doctor_tables_sql)
    static let dropDataKeys = SQL(PackageResources.drop_data_keys_sql)
    static let dropHeld = SQL(PackageResources.drop_held_sql)
    static let dropOffers = SQL(PackageResources.drop_offers_sql)
    static let dueRefunds = SQL(PackageResources.due_refunds_sql)
    static let endRefund = SQL(PackageResources.end_refund_sql)
    static let endlessProducts = SQL(PackageResources.endless_products_sql)
    static let eventsAfter = SQL(PackageResources.events_after_sql)
    static let expireRefunds = SQL(PackageResources.expire_refunds_sql)
    static let exportPurchases = SQL(PackageResources.export_purchases_sql)
    static let findOlderLinks = SQL(PackageResources.find_older_links_sql)
    static let findCopies = SQL(PackageResources.find_copies_sql)
    static let findOriginalKeys = SQL(PackageResources.find_original_keys_sql)
    static let ownerOfOriginal = SQL(PackageResources.owner_of_original_sql)
    static let findSuccessors = SQL(PackageResources.find_successors_sql)
    static let fleetOutline = SQL(PackageResources.fleet_outline_sql)
    static let held = SQL(PackageResources.held_sql)
    static let importBatch = SQL(PackageResources.import_batch_sql)
    static let importBegin = SQL(PackageResources.import_begin_sql)
    static let importNote = SQL(PackageResources.import_note_sql)
    static let importPlace = SQL(PackageResources.import_place_sql)
    static let importPreview = SQL(PackageResources.import_preview_sql)
    static let keepDataKey = SQL(PackageResources.keep_data_key_sql)
    static let keepPolicy = SQL(PackageResources.keep_policy_sql)
    static let keepPulls = SQL(PackageResources.keep_pulls_sql)
    static let keptClaimed = SQL(PackageResources.kept_claimed_sql)
    static let keptClaims = SQL(PackageResources.kept_claims_sql)
    static let keptPurchases = SQL(PackageResources.kept_purchases_sql)
    static let knownEnds = SQL(PackageResources.known_ends_sql)
    static let leftDue = SQL(PackageResources.left_due_sql)
    static let lapseRefunds = SQL(PackageResources.lapse_refunds_sql)
    static let lastEvent = SQL(PackageResources.last_event_sql)
    static let latestSubmitters = SQL(PackageResources.latest_submitters_sql)
    static let leaveWorker = SQL(PackageResources.leave_worker_sql)
    static let lockBreakers = SQL(PackageResources.lock_breakers_sql)
    static let lockMigrations = SQL(PackageResources.lock_migrations_sql)
    static let lockRetiredDataKeys = SQL(PackageResources.lock_retired_data_keys_sql)
    static let lockedClaims = SQL(PackageResources.locked_claims_sql)
    static let markInHand = SQL(PackageResources.mark_in_hand_sql)
    static let marks = SQL(PackageResources.marks_sql)
    static let measureBreakers = SQL(PackageResources.measure_breakers_sql)
    static let notePulls = SQL(PackageResources.note_pulls_sql)
    static let notifyDue = SQL(PackageResources.notify_due_sql)
    static let now = SQL(PackageResources.now_sql)
    static let openBuckets = SQL(PackageResources.open_buckets_sql)
    static let ownedShards = SQL(PackageResources.owned_shards_sql)
    static let policyProducts = SQL(PackageResources.policy_products_sql)
    static let policyWords = SQL(PackageResources.policy_words_sql)
    static let pruneClues = SQL(PackageResources.prune_clues_sql)
    static let pruneHeardHints = SQL(PackageResources.prune_heard_hints_sql)
    static let pruneLosses = SQL(PackageResources.prune_losses_sql)
    static let pruneUnclaimedHints = SQL(PackageResources.prune_unclaimed_hints_sql)
    static let purchaseEvidence = SQL(PackageResources.purchase_evidence_sql)
    static let purchaseRefunds = SQL(PackageResources.purchase_refunds_sql)
    static let putOffRefunds = SQL(PackageResources.put_off_refunds_sql)
    static let queueArrivals = SQL(PackageResources.queue_arrivals_sql)
    static let queueDepth = SQL(PackageResources.queue_depth_sql)
    static let queueFronts = SQL(PackageResources.queue_fronts_sql)
    static let queueHeads = SQL(PackageResources.queue_heads_sql)
    static let recordMigration = SQL(PackageResources.record_migration_sql)
    static let recordUnhandled = SQL(PackageResources.record_unhandled_sql)
    static let rulesAreNew = SQL(PackageResources.rules_are_new_sql)
    static let refundOutlook = SQL(PackageResources.refund_outlook_sql)
    static let registerApps = SQL(PackageResources.register_apps_sql)
    static let waitBriefly = SQL(PackageResources.wait_briefly_sql)
    static let rekeyCredentialPage = SQL(PackageResources.rekey_credential_page_sql)
    static let rekeyCredentials = SQL(PackageResources.rekey_credentials_sql)
    static let rekeyEvidence = SQL(PackageResources.rekey_evidence_sql)
    static let rekeyEvidencePage = SQL(PackageResources.rekey_evidence_page_sql)
    static let rekeyLeft = SQL(PackageResources.rekey_left_sql)
    static let releaseShards = SQL(PackageResources.release_shards_sql)
    static let requireBreakers = SQL(PackageResources.require_breakers_sql)
    static let requireEnds = SQL(PackageResources.require_ends_sql)
    static let renewShards = SQL(PackageResources.renew_shards_sql)
    static let pauseApp = SQL(PackageResources.pause_app_sql)
    static let reserveCalls = SQL(PackageResources.reserve_calls_sql)
    static let retireDataKeys = SQL(PackageResources.retire_data_keys_sql)
    static let giveBackCalls = SQL(PackageResources.give_back_calls_sql)
    static let recallPage = SQL(PackageResources.recall_page_sql)
    static let rotateEvidence = SQL(PackageResources.rotate_evidence_sql)
    static let schemaExists = SQL(PackageResources.schema_exists_sql)
    static let schemaVersion = SQL(PackageResources.schema_version_sql)
    static let setAside = SQL(PackageResources.set_aside_sql)
    static let setRefundRule = SQL(PackageResources.set_refund_rule_sql)
    static let shadowBegin = SQL(PackageResources.shadow_begin_sql)
    static let shadowCompare = SQL(PackageResources.shadow_compare_sql)
    static let shadowDecide = SQL(PackageResources.shadow_decide_sql)
    static let shadowEnd = SQL(PackageResources.shadow_end_sql)
    static let shadowHeal = SQL(PackageResources.shadow_heal_sql)
    static let shadowKnown = SQL(PackageResources.shadow_known_sql)
    static let shadowPage = SQL(PackageResources.shadow_page_sql)
    static let shadowRuns = SQL(PackageResources.shadow_runs_sql)
    static let shadowTake = SQL(PackageResources.shadow_take_sql)
    static let shadowTally = SQL(PackageResources.shadow_tally_sql)
    static let shardsOf = SQL(PackageResources.shards_of_sql)
    static let sharedCircles = SQL(PackageResources.shared_circles_sql)
    static let statusBreakers = SQL(PackageResources.status_breakers_sql)
    static let statusBuckets = SQL(PackageResources.status_buckets_sql)
    static let statusLag = SQL(PackageResources.status_lag_sql)
    static let statusQueue = SQL(PackageResources.status_queue_sql)
    static let statusRefunds = SQL(PackageResources.status_refunds_sql)
    static let statusSources = SQL(PackageResources.status_sources_sql)
    static let statusUnhandled = SQL(PackageResources.status_unhandled_sql)
    static let statusWorkers = SQL(PackageResources.status_workers_sql)
    static let strangeApps = SQL(PackageResources.strange_apps_sql)
    static let suspectLanes = SQL(PackageResources.suspect_lanes_sql)
    static let sweepPage = SQL(PackageResources.sweep_page_sql)
    static let sweepState = SQL(PackageResources.sweep_state_sql)
    static let sweepWake = SQL(PackageResources.sweep_wake_sql)
    static let wakeSiblings = SQL(PackageResources.wake_siblings_sql)
    static let takeDataKey = SQL(PackageResources.take_data_key_sql)
    static let takeHints = SQL(PackageResources.take_hints_sql)
    static let takeRefundQuestions = SQL(PackageResources.take_refund_questions_sql)
    static let takeRefundRulings = SQL(PackageResources.take_refund_rulings_sql)
    static let takeShards = SQL(PackageResources.take_shards_sql)
    static let tellLanes = SQL(PackageResources.tell_lanes_sql)
    static let unevenApps = SQL(PackageResources.uneven_apps_sql)
    static let unservedLanes = SQL(PackageResources.unserved_lanes_sql)
    static let workerTurns = SQL(PackageResources.worker_turns_sql)
    static let userClaims = SQL(PackageResources.user_claims_sql)
    static let userEntitlements = SQL(PackageResources.user_entitlements_sql)
    static let userEvents = SQL(PackageResources.user_events_sql)
    static let usersOfOrder = SQL(PackageResources.users_of_order_sql)
    static let usersOfOrderScan = SQL(PackageResources.users_of_order_scan_sql)
    static let wakeWaiting = SQL(PackageResources.wake_waiting_sql)
    static let warnRefunds = SQL(PackageResources.warn_refunds_sql)
}

extension PostgresStatement {
    /// How the server would run it. Not prepared, and nothing of it is run.
    var plan: PostgresStatement {
        PostgresStatement("EXPLAIN (COSTS OFF)\n" + sql, parameters, isReadOnly: true)
    }
}
