import Curl
import Renewal
import Synchronization
import Testing

@testable import Stores

/// A call that cannot start in its place takes another one.
struct PlaceTests {
    private final class Sent: Sendable {
        let places = Mutex<[ContinuousClock.Instant?]>([])
        let turns = Atomic(0)
    }

    private let start = ContinuousClock.now

    private func transport(
        _ sent: Sent, lateUntil answered: Int
    ) -> StoreTransport {
        let start = start
        return StoreTransport(
            send: { request throws(CurlError) in
                let count = sent.places.withLock { places in
                    places.append(request.startsBy)
                    return places.count
                }
                guard count > answered || request.startsBy == nil else { throw .late }
                return .json("{}")
            },
            wallClock: { Timestamp(microsecondsSinceEpoch: 0) },
            session: CallSession(
                CallPermit(CallPlace(startsBy: start)) {
                    let turn = sent.turns.add(1, ordering: .relaxed).newValue
                    return CallPlace(startsBy: start + .seconds(turn))
                }))
    }

    private let request = HTTPRequest(url: "https://store.example")

    @Test func aCallThatIsTooLateWaitsForAnotherPlace() async throws {
        let sent = Sent()
        _ = try await transport(sent, lateUntil: 1).response(to: request, calling: "status")
        #expect(sent.places.withLock(\.self) == [start, start + .seconds(1)])
    }

    @Test func afterThreePlacesItIsMadeAtAnyTime() async throws {
        let sent = Sent()
        let delivery = await transport(sent, lateUntil: .max).deliver(request, calling: "refund")
        guard case .answered = delivery else {
            Issue.record("\(delivery)")
            return
        }
        #expect(
            sent.places.withLock(\.self)
                == [start, start + .seconds(1), start + .seconds(2), nil])
    }

    /// A token endpoint has no part in the quota.
    @Test func whatIsNotCountedHasNoPlace() async throws {
        let sent = Sent()
        _ = try await transport(sent, lateUntil: .max).response(to: request, calling: nil)
        #expect(sent.places.withLock(\.self) == [nil])
        #expect(sent.turns.load(ordering: .relaxed) == 0)
    }
}
