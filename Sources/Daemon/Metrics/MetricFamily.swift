/// One metric that the daemon serves: the only list of their names.
package struct MetricFamily: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case counter
        case gauge
        /// Upper bounds of the buckets, rising; infinity is added.
        case histogram([Double])
    }

    /// Without the `_total` of a counter.
    package let name: String
    package let kind: Kind
    package let help: String

    /// The names under which samples of it are stored.
    package var sampleNames: [String] {
        switch kind {
        case .counter: ["\(name)_total"]
        case .gauge: [name]
        case .histogram: ["\(name)_bucket", "\(name)_count", "\(name)_sum"]
        }
    }

    /// Of OpenMetrics: the last word of the name, where it is one.
    var unit: String? { name.hasSuffix("_seconds") ? "seconds" : nil }

    private static let lagSeconds: [Double] = [
        1, 5, 10, 30, 60, 120, 300, 900, 3600, 21_600, 86_400,
    ]
    private static let workSeconds: [Double] = [
        0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]

    package static let all: [MetricFamily] = [
        buildInfo, startTime, checks, checkDuration, storeCalls, quota, inFlight, due, oldestDue,
        queueReadTime, backfillImported, backfillLeft, circuit, pace, swept, sweepInterval,
        commits, commitDuration, outcomes, databaseErrors, leaseLosses, shards, events,
        detectionLag, breakerTripped, heldRevocations,
        hints, hintsSkipped, newsUnhandled, hintsReadTime, refundRequests, refundDeadline,
    ]

    static let buildInfo = gauge("renewald_build_info", "The version that runs; always 1.")
    static let startTime = gauge(
        "renewald_start_time_seconds", "When the process began, in seconds since 1970.")
    static let checks = counter("renewald_checks", "Answers of stores, by result.")
    static let checkDuration = MetricFamily(
        name: "renewald_check_duration_seconds", kind: .histogram(workSeconds),
        help: "How long a store took to answer about one purchase.")
    static let storeCalls = counter("renewald_store_calls", "HTTP requests to stores.")
    static let quota = gauge(
        "renewald_quota_calls_per_second",
        "Calls that the configuration allows, all workers together.")
    static let inFlight = gauge("renewald_checks_in_flight", "Checks in flight.")
    static let due = gauge(
        "renewald_due",
        "Purchases that are due now, for all workers; counted up to 2.56 million.")
    static let oldestDue = gauge(
        "renewald_oldest_due_seconds", "How long the oldest due purchase has waited.")
    static let queueReadTime = gauge(
        "renewald_queue_read_time_seconds",
        "When the queue was last read from the database, in seconds since 1970.")
    static let backfillImported = gauge(
        "renewald_backfill_imported", "Purchases that were imported since none waited last.")
    static let backfillLeft = gauge(
        "renewald_backfill_left",
        "Those of them that no store was asked about yet; counted up to 2.56 million.")
    static let circuit = gauge(
        "renewald_circuit_state", "1 for the state of the app's circuit, else 0.")
    static let pace = gauge(
        "renewald_pace_ratio",
        "Share of the allowed calls that this worker makes; less than 1 after a 429.")
    static let swept = counter(
        "renewald_swept", "Purchases that this worker made due before their time.")
    static let sweepInterval = gauge(
        "renewald_sweep_interval_seconds",
        "How often this worker's sweep comes to ask about what changes most often.")
    static let commits = counter("renewald_commits", "Batches that were committed, or failed.")
    static let commitDuration = MetricFamily(
        name: "renewald_commit_duration_seconds", kind: .histogram(workSeconds),
        help: "How long the commit of a batch took.")
    static let outcomes = counter(
        "renewald_outcomes",
        "Checks in those batches: committed, dropped (another session was faster) or refused.")
    static let databaseErrors = counter(
        "renewald_database_errors", "Database statements that failed.")
    static let leaseLosses = counter(
        "renewald_lease_losses", "Shards that another worker has taken over.")
    static let shards = gauge("renewald_shards", "Shards that this worker holds, of 256.")
    static let events = counter("renewald_events", "Events that were committed.")
    static let detectionLag = MetricFamily(
        name: "renewald_detection_lag_seconds", kind: .histogram(lagSeconds),
        help: "From a change at the store, by what has changed, to its commit.")

    static let breakerTripped = gauge(
        "renewald_breaker_tripped", "1 while the app's breaker holds revocations, else 0.")
    static let heldRevocations = gauge(
        "renewald_held_revocations", "Revocations of the app that are held, for all workers.")
    static let hints = counter("renewald_hints", "News of stores, duplicates left out.")
    static let hintsSkipped = counter(
        "renewald_hints_skipped", "News of stores that cannot be read or is about another app.")
    static let newsUnhandled = counter(
        "renewald_news_unhandled",
        "News of types that nobody handles; expected is true for types known to be of no use.")
    static let hintsReadTime = gauge(
        "renewald_hints_read_time_seconds",
        "When this worker last read a source of news, in seconds since 1970.")

    static let refundRequests = gauge(
        "renewald_refund_requests_open",
        "Questions of a store about refunds that it has no answer to.")
    static let refundDeadline = gauge(
        "renewald_refund_deadline_time_seconds",
        "When the first of them is too late to answer, in seconds since 1970; 0 without any.")

    private static func counter(_ name: String, _ help: String) -> MetricFamily {
        MetricFamily(name: name, kind: .counter, help: help)
    }

    static func gauge(_ name: String, _ help: String) -> MetricFamily {
        MetricFamily(name: name, kind: .gauge, help: help)
    }
}
