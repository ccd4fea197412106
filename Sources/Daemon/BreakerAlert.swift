import Engine
import Logging
import Renewal

extension Logger {
    /// The one line of priority `alert`: an app's breaker has tripped (design rule 13).
    func alert(_ trip: BreakerTrip) {
        var fields = LogField.topic(.breakerTripped)
        fields[LogField.store] = "\(trip.app.store.rawValue)"
        fields[LogField.app] = "\(trip.app.id)"
        critical(.breakerTripped(trip), metadata: fields)
    }
}
