import Configuration
import Logging
import Renewal

/// What the lines of the daemon's log say, beside those of events (`EventSentence.swift`) and those
/// of the engine (`Engine/EngineLogLines.swift`). What `journalctl -x` adds is in the catalogs.
extension Logger.Message {
    // Start and stop.

    static func started(with settings: Settings) -> Self {
        "renewald \(Version.text) starts: \(settings)"
    }

    static let stopped: Self = "renewald has stopped"

    static func databaseWaits(_ error: LedgerError) -> Self { "waiting: \(error.sentence)" }

    static let databaseThere: Self = "the database answers; starting"

    static func schemaDiffers(_ found: Int, from own: Int) -> Self {
        "the schema is version \(found); this program is made for \(own) and works with it"
    }

    static func poolerDetected(disablesListen: Bool) -> Self {
        let news = disablesListen ? ", LISTEN disabled" : ""
        return "connection pooler detected: prepared statements disabled\(news)"
    }

    static func metricsServed(on host: String, port: Int) -> Self {
        "metrics are served on \(host), port \(port)"
    }

    static func metricsUnavailable(_ address: ListenAddress, _ reason: String) -> Self {
        "metrics.listen: cannot listen on \(address): \(reason)"
    }

    // Progress.

    static func workStuck(in parts: [String]) -> Self {
        "no progress in: \(parts.joined(separator: ", "))"
    }

    static let workAdvances: Self = "progress again"

    // Reloads.

    static func reloaded(_ changes: String) -> Self {
        "reloaded the configuration and the secrets in files; \(changes)"
    }

    static let reloadRefused: Self = "reload failed; the old configuration stays in force"

    static func restartNeeded(for key: String) -> Self {
        "\(key) has changed; restart to apply it"
    }

    static let reloadChangesNothing: Self = "the new products and policy change no purchase"

    static func reloadOutlook(_ difference: Difference) -> Self {
        let gain = difference.gain.values.reduce(0, +)
        let lose = difference.lose.values.reduce(0, +)
        return """
            the new products or policy would change \(difference.changed) of \
            \(difference.purchases) purchases, \(gain) entitlements gained and \(lose) lost, each \
            at its next check; "renewald apply" changes them now
            """
    }

    static func reloadOutlookFailed(_ error: LedgerError) -> Self {
        "cannot tell what the new products or policy would change: \(error.sentence)"
    }

    // Purchases.

    static func purchaseNotJudged(_ purchase: Int64, of store: Store, _ problem: Problem) -> Self {
        "purchase \(purchase) (\(store.rawValue)): \(problem)"
    }

    static func purchaseSetAside(_ purchase: Int64, _ problem: Problem) -> Self {
        "purchase \(purchase): \(problem)"
    }

    /// `facts` such as `answer by 2026-…Z`.
    static func refundNotice(for user: String?, _ reason: String, _ facts: [String]) -> Self {
        let whom = user ?? "an unknown user"
        return "notice for \(whom): \(reason) (\(facts.joined(separator: ", ")))"
    }

    static func breakerTripped(_ trip: BreakerTrip) -> Self {
        let app = "\(trip.app.store.rawValue)/\(trip.app.id)"
        return """
            the breaker of \(app) has tripped: \(trip.cause). From now on its revocations are \
            held: users keep their access, and no revoke event is written. Find out with \
            "renewald release" whom it is about and whether the store or the configuration is \
            wrong; then let go what is true with "renewald release --app \(app)", or drop it \
            with --discard
            """
    }

    // Evidence.

    static func evidenceDropped(months: Int) -> Self { "dropped \(months) months of evidence" }

    static func evidenceNotRotated(_ error: LedgerError) -> Self {
        "cannot rotate evidence: \(error.sentence)"
    }

    // The log itself.

    static func linesSummarised(_ summary: String) -> Self {
        "\(summary); `renewald events` shows every event"
    }

    static func journalLinesDropped(_ count: Int) -> Self {
        "\(count) lines were dropped: the journal did not take them in time"
    }
}

extension BreakerTrip {
    /// Which limit was exceeded, in words.
    fileprivate var cause: String {
        let seconds = window.components.seconds
        let time =
            seconds % 60 == 0
            ? seconds == 3600 ? "an hour" : "\(seconds / 60) minutes" : "\(seconds) seconds"
        return switch exceeded {
        case .early(let limit):
            "more than \(Self.purchases(limit)) would have lost access in \(time) before their end"
        case .lapsed(let limit):
            "more than \(Self.purchases(limit)) would not have renewed of those that were to renew "
                + "within \(time)"
        }
    }

    private static func purchases(_ count: some BinaryInteger) -> String {
        count == 1 ? "one purchase" : "\(count) purchases"
    }
}
