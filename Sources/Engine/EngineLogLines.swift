import Logging
import Renewal

/// What the lines of the engine's log say. What a topic means, and what to do then, is in the
/// catalogs of `Daemon/Journal`.
extension Logger.Message {
    // The stop.

    static let stopping: Self = "stopping: finishing the checks in flight"

    // The leases of shards.

    static func shardsLeased(_ count: Int) -> Self { "\(count) shards leased" }

    static func shardsGivenBack(_ count: Int) -> Self { "\(count) shards given to other workers" }

    static func shardsLost(_ count: Int) -> Self { "lost \(count) shards to another worker" }

    static func appWaits(_ app: AppKey) -> Self {
        """
        \(app.name) is not served yet: another session submits its first purchase in a transaction \
        that is still open
        """
    }

    static func appsDiffer(_ lacking: [AppKey]) -> Self {
        """
        other workers have configured what this one has not: \
        \(lacking.prefix(5).map(\.name).joined(separator: ", "))\
        \(lacking.count > 5 ? " and \(lacking.count - 5) more" : ""); they take turns, and checks \
        come later
        """
    }

    static func leasesUncertain(_ error: LedgerError) -> Self {
        "cannot renew leases: \(error.sentence)"
    }

    static let leasesBack: Self = "leases can be renewed again; taking shards"

    static let leasesNotGivenBack: Self = "could not release leases; they expire by themselves"

    // A crash.

    static func crashLeftChecks(_ count: Int) -> Self {
        "a worker crashed with \(count) checks in flight; rechecking those first, in small groups"
    }

    static func suspectsWait(_ error: LedgerError) -> Self {
        "cannot recheck what a crash left in flight yet: \(error.sentence)"
    }

    // The queues.

    static func cannotListen(_ error: LedgerError) -> Self {
        "cannot listen for notifications: \(error.sentence)"
    }

    static func cannotLook(_ error: LedgerError) -> Self {
        "cannot look for due purchases: \(error.sentence)"
    }

    static func readsStall(_ error: LedgerError) -> Self {
        "cannot check what is due until the database lets it: \(error.sentence)"
    }

    static let readsGoOn: Self = "what is due can be checked again"

    static func cannotLookAtShards(_ lane: Lane, _ error: LedgerError) -> Self {
        "\(lane.title): cannot look at its shards: \(error.sentence)"
    }

    static func cannotClaim(_ lane: Lane, _ error: LedgerError) -> Self {
        "\(lane.title): cannot claim: \(error.sentence)"
    }

    static func claimed(_ lane: Lane, _ claims: Int, fromShards shards: Int) -> Self {
        "\(lane.title): \(claims) claims from \(shards) shards"
    }

    static func cannotSweep(_ lane: Lane, _ error: LedgerError) -> Self {
        "\(lane.title): cannot sweep: \(error.sentence)"
    }

    static func cannotRecall(_ error: LedgerError) -> Self {
        "cannot look for what was asked about in the future: \(error.sentence)"
    }

    static func swept(_ lane: Lane, _ count: Int) -> Self {
        "\(lane.title): \(count) purchases made due by the sweep"
    }

    // The calls of an app.

    static func cannotReserveCalls(_ lane: Lane, _ error: LedgerError) -> Self {
        "\(lane.title): cannot reserve calls: \(error.sentence)"
    }

    static func cannotReserveCall(_ app: AppKey, _ error: LedgerError) -> Self {
        "\(app.title): cannot reserve a call: \(error.sentence)"
    }

    static func cannotGiveBackCalls(_ lane: Lane, _ error: LedgerError) -> Self {
        "\(lane.title): cannot give back calls: \(error.sentence)"
    }

    static func cannotTellOthersToWait(_ app: AppKey, _ error: LedgerError) -> Self {
        "\(app.title): other workers cannot be told to wait: \(error.sentence)"
    }

    static func circuitOpened(_ lane: Lane, _ problem: Problem) -> Self {
        "\(lane.title): \(problem.sentence); single probes until it recovers"
    }

    static func circuitClosed(_ lane: Lane) -> Self { "\(lane.title): answers again" }

    // Commits.

    static func commitWaits(_ error: LedgerError) -> Self {
        "commit waits for the database: \(error.sentence)"
    }

    static let commitGoesOn: Self = "database reachable again; nothing was lost"

    static func answersDropped(_ count: Int) -> Self {
        "dropped \(count) answers; their purchases will be checked again"
    }

    static func rowsHeld(_ count: Int, tryingAgain: Bool) -> Self {
        """
        another session of the database holds the rows of \(count) \
        \(count == 1 ? "purchase" : "purchases"): not checked\
        \(tryingAgain ? ", tried again soon" : "")
        """
    }

    // What the database refuses.

    static func outcomeRefused(_ purchase: Int64, _ problem: Problem?) -> Self {
        """
        the database refuses to store the outcome of purchase \(purchase): \
        \(problem?.sentence ?? "it gives no reason")
        """
    }

    static let databaseRelents: Self = "the database accepts all work again"

    // Acknowledgements.

    static func acknowledgementWaits(_ purchase: Int64) -> Self {
        "purchase \(purchase) could not be acknowledged yet"
    }

    // News of the stores: hints.

    static func hintSourcesChanged(_ changes: [String]) -> Self {
        "sources of news changed: \(changes.joined(separator: ", "))"
    }

    static func hintsTaken(_ source: SourceID, new: Int, madeDue: Int) -> Self {
        "hints of \(source): \(new) new, \(madeDue) made due"
    }

    static func hintsWait(_ source: SourceID, _ problem: Problem) -> Self {
        "news of \(source): \(problem.sentence); retrying with backoff"
    }

    static func hintsGoOn(_ source: SourceID) -> Self { "news of \(source) can be read again" }

    static func hintsSkipped(_ source: SourceID, _ count: Int) -> Self {
        "news of \(source): skipped \(count), unreadable or about another app"
    }

    static func hintsElsewhere(_ source: SourceID) -> Self {
        "lost the lease on the news of \(source); another worker reads them now"
    }

    static func newsUnhandled(_ type: String, from source: SourceID) -> Self {
        """
        news of type \(type) from \(source): not known to this version; \
        recorded in renewald.unhandled_news
        """
    }

    static func hintPagesWait(_ source: SourceID, _ error: LedgerError) -> Self {
        "news of \(source) waits for the database: \(error.sentence)"
    }

    static func hintRoundWaits(_ error: LedgerError) -> Self {
        "hints wait for the database: \(error.sentence)"
    }

    static func oldHintsNotDeleted(_ error: LedgerError) -> Self {
        "cannot delete old hints: \(error.sentence)"
    }

    // Requests about refunds.

    static func refundRoundWaits(_ error: LedgerError) -> Self {
        "refund requests wait for the database: \(error.sentence)"
    }

    static func refundUnanswered(_ alarm: RefundAlarm) -> Self {
        """
        request \(alarm.id): nobody has answered, and \(alarm.app.store.rawValue) waits until \
        \(alarm.answerBy.text)
        """
    }

    static func refundExpired(_ alarm: RefundAlarm) -> Self {
        "request \(alarm.id): \(alarm.app.store.rawValue) had no answer by \(alarm.answerBy.text)"
    }

    static func refundUncertain(_ alarm: RefundAlarm) -> Self {
        """
        request \(alarm.id): it is not known whether \(alarm.app.store.rawValue) has the answer; \
        it is not sent again
        """
    }

    static func refundUnreadable(_ request: Int64, _ problem: Problem) -> Self {
        """
        request \(request): \(problem.sentence); nothing is sent, and it is looked at again in \
        an hour
        """
    }

    static func refundAnswered(_ request: Int64, by store: Store) -> Self {
        "request \(request): \(store.rawValue) has the answer"
    }

    static func refundWaits(_ request: Int64, _ problem: Problem) -> Self {
        "request \(request): \(problem.sentence); the answer is sent again until the deadline"
    }

    /// What has failed in a sentence of its own.
    static func refundFailed(_ request: Int64, _ sentence: String) -> Self {
        "request \(request): \(sentence)"
    }
}
