import Ledger
import Renewal

/// Tells what the breaker holds: it waits for a person.
enum BreakerCheck {
    static let subject = "safety"

    /// - Parameters:
    ///   - breakers: of all apps that have lost anything yet.
    ///   - policy: when a breaker trips.
    /// - Returns: one for each app whose breaker has tripped, or of which something is held.
    static func findings(
        _ breakers: [BreakerStanding], under policy: BreakerPolicy
    ) -> [Finding] {
        breakers.compactMap { standing in
            let app = "\(standing.app.store.rawValue) \(standing.app.id)"
            let held =
                standing.waiting == 1
                ? "1 revocation is held" : "\(standing.waiting) revocations are held"
            let advice =
                "find out why so many were lost at once; `renewald release` shows what is held, "
                + "and lets go what the store still confirms"
            if let trip = standing.breaker(under: policy).count.trip {
                return .note(
                    subject, "\(app): the breaker tripped at \(trip.at.text): \(held)", do: advice)
            }
            return standing.waiting > 0 ? .note(subject, "\(app): \(held)", do: advice) : nil
        }
    }
}
