import Curl
import Renewal
import Synchronization
import Testing

@testable import Stores

/// A machine whose clock is off signs by Google's.
struct GoogleClockTests {
    private struct Claims: Decodable {
        let iat: Int64
        let exp: Int64
    }

    @Test(arguments: [3600, -3600])
    func signsByTheStoresClockWhereOursIsRefused(ahead: Int64) async throws {
        let google = GoogleFixture.now - .seconds(ahead)
        let seconds = google.microsecondsSinceEpoch / 1_000_000
        let signed = Mutex<[Int64]>([])
        let world = FakeWorld(clock: GoogleFixture.now) { request async throws(CurlError) in
            guard request.url == "https://tokens.example/token" else {
                return .json(GoogleObservationTests.base).dated(google)
            }
            let body = String(decoding: request.body ?? [], as: UTF8.self)
            guard let jws = body.split(separator: "assertion=").last.map(String.init),
                let payload = CompactJWS(jws)?.payload,
                let claims = try? JSON.decode(Claims.self, from: payload)
            else { return .json("{}", status: 500) }
            signed.withLock { $0.append(claims.iat) }
            guard claims.iat <= seconds, seconds < claims.exp else {
                return .json(#"{"error":"invalid_grant"}"#, status: 400).dated(google)
            }
            return .json(#"{"access_token":"ya29.x","expires_in":3599}"#).dated(google)
        }
        let store = try GoogleFixture.store(world)
        let answer = await store.ask(purchase(.google, token: "t"), at: GoogleFixture.now)
        #expect(summary(answer).hasPrefix("active"))
        #expect(signed.withLock(\.count) == 2)
        // The token is kept: nothing is signed again for the next purchase.
        _ = await store.ask(purchase(.google, token: "u"), at: GoogleFixture.now)
        #expect(signed.withLock(\.count) == 2)
    }
}
