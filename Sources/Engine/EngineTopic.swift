import Logging
import Renewal

/// What a line of the engine's log is about. The composition root gives each a stable id, by which
/// an operator finds it again.
package enum EngineTopic: String, Hashable, Sendable, CaseIterable {
    case circuitOpened = "circuit_opened"
    case circuitClosed = "circuit_closed"
    case storeThrottles = "store_throttles"
    case credentialsRefused = "credentials_refused"
    case databaseRefuses = "database_refuses"
    case databaseRelents = "database_relents"
    case readsStall = "reads_stall"
    case readsGoOn = "reads_go_on"
    case commitWaits = "commit_waits"
    case commitGoesOn = "commit_goes_on"
    case answersDropped = "answers_dropped"
    case rowsHeld = "rows_held"
    case outcomeRefused = "outcome_refused"
    case leasesUncertain = "leases_uncertain"
    case leasesBack = "leases_back"
    case shardsLost = "shards_lost"
    case appWaits = "app_waits"
    case appsDiffer = "apps_differ"
    case crashLeftChecks = "crash_left_checks"
    case suspectsWait = "suspects_wait"
    case stopping
    case leasesNotGivenBack = "leases_not_given_back"
    case hintsWait = "hints_wait"
    case hintsGoOn = "hints_go_on"
    case hintsElsewhere = "hints_elsewhere"
    case hintsSkipped = "hints_skipped"
    case newsUnhandled = "news_unhandled"
    case hintSourcesChanged = "hint_sources_changed"
    case acknowledgementWaits = "acknowledgement_waits"
    case refundAnswered = "refund_answered"
    case refundWaits = "refund_waits"
    case refundRefused = "refund_refused"
    case refundUncertain = "refund_uncertain"
    case refundUnanswered = "refund_unanswered"
    case refundExpired = "refund_expired"
}

extension LogField {
    static func topic(_ topic: EngineTopic) -> Logger.Metadata { [Self.topic: "\(topic.rawValue)"] }

    static func topic(_ topic: EngineTopic, of app: AppKey) -> Logger.Metadata {
        [Self.topic: "\(topic.rawValue)", store: "\(app.store.rawValue)", Self.app: "\(app.id)"]
    }
}

/// The names of what a log line carries beside its text.
package enum LogField {
    /// What the line is about; the others are facts of it.
    package static let topic = "topic"
    package static let store = "store"
    package static let app = "app"
    package static let purchase = "purchase"
    package static let problem = "problem"
}

extension Logger {
    /// Says that the circuit has opened: refused credentials are for a person to mend.
    func circuitOpened(of lane: Lane, _ failure: StoreFailure) {
        var fields = LogField.topic(failure.circuitTopic, of: lane.app)
        fields[LogField.problem] = "\(failure.problem.code.rawValue)"
        log(level: failure.circuitLevel, .circuitOpened(lane, failure.problem), metadata: fields)
    }

    func circuitClosed(of lane: Lane) {
        notice(.circuitClosed(lane), metadata: LogField.topic(.circuitClosed, of: lane.app))
    }
}

extension StoreFailure {
    /// How grave it is when it opens a circuit: refused credentials are for a person to mend.
    fileprivate var circuitLevel: Logger.Level {
        switch self {
        case .throttled: .notice
        case .refused: .error
        case .unreachable, .malformed, .signature, .mismatch, .rejected, .unsupported: .warning
        }
    }

    fileprivate var circuitTopic: EngineTopic {
        switch self {
        case .throttled: .storeThrottles
        case .refused: .credentialsRefused
        case .unreachable, .malformed, .signature, .mismatch, .rejected, .unsupported:
            .circuitOpened
        }
    }
}
