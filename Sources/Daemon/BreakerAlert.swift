import Engine
import Logging
import Renewal

extension Logger {
    /// The one line of priority `alert`: an app's breaker has tripped (design rule 13).
    func alert(_ trip: BreakerTrip) {
        var fields = LogField.topic(.breakerTripped)
        fields[LogField.store] = "\(trip.app.store.rawValue)"
        fields[LogField.app] = "\(trip.app.id)"
        let app = "\(trip.app.store.rawValue)/\(trip.app.id)"
        let line = """
            the breaker of \(app) has tripped: \(trip.cause). From now on its revocations are \
            held: users keep their access, and no revoke event is written. Find out with \
            "renewald release" whom it is about and whether the store or the configuration is \
            wrong; then let go what is true with "renewald release --app \(app)", or drop it \
            with --discard
            """
        critical("\(line)", metadata: fields)
    }
}

extension BreakerTrip {
    fileprivate var cause: String {
        let seconds = window.components.seconds
        let time =
            seconds % 60 == 0
            ? seconds == 3600 ? "an hour" : "\(seconds / 60) minutes" : "\(seconds) seconds"
        return switch exceeded {
        case .early(let limit):
            "more than \(limit) purchases would have lost access in \(time) before their end"
        case .lapsed(let limit):
            "more than \(limit) purchases would not have renewed of those that were to renew "
                + "within \(time)"
        }
    }
}
