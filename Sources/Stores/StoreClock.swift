import Renewal
import Curl
import Synchronization

extension HTTPResponse {
    /// What the `Date` of the answer says; nil without one that can be read.
    var storeNow: Timestamp? { date.flatMap(CalendarTime.timestamp(httpDate:)) }

    /// The time by this answer's `Date` and the database's clock (design rule 12).
    func moment(at now: Timestamp) -> Moment {
        Moment(now: now, jitter: 0, storeNow: storeNow)
    }

    /// The time up to which an end has passed for certain.
    func proven(at now: Timestamp) -> Timestamp { moment(at: now).proven }
}

/// Learns what time it is at a store, from the `Date` of its answers.
package final class StoreClock: Sendable {
    private let best = Mutex<Sample?>(nil)

    private struct Sample {
        let skew: Duration
        /// The answer was made at some moment of it.
        let roundTrip: Duration
    }

    package init() {}

    /// How far the store is ahead of this machine; nil without an answer that says its time. Good
    /// to a second, and half the time that the quickest answer took.
    package var skew: Duration? { best.withLock { $0?.skew } }

    /// The same transport, which tells the clock what it hears.
    package func listening(to transport: StoreTransport) -> StoreTransport {
        var transport = transport
        let (send, wallClock) = (transport.send, transport.wallClock)
        transport.send = { [self] request throws(CurlError) in
            let began = wallClock()
            let response = try await send(request)
            hears(response.date, between: began, and: wallClock())
            return response
        }
        return transport
    }

    private func hears(_ date: String?, between began: Timestamp, and ended: Timestamp) {
        guard let told = date.flatMap(CalendarTime.timestamp(httpDate:)) else { return }
        let roundTrip = ended - began
        // The header has whole seconds: on average half a second is cut off.
        let skew = told + .milliseconds(500) - (began + roundTrip / 2)
        best.withLock { best in
            if let best, best.roundTrip <= roundTrip { return }
            best = Sample(skew: skew, roundTrip: roundTrip)
        }
    }
}
