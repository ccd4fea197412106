import Renewal
import Testing

@testable import Stores

/// What is asked beside a check keeps its secrets too.
struct GoogleSecrecyTests {
    private static let planted = ["plutonium", "polonium", "radium"]

    @Test(arguments: [200, 302, 400, 401, 403, 404, 410, 429, 500])
    func keepsTokensAndOrdersToItself(status: Int) async throws {
        var heard = ""
        for body in [
            "plutonium polonium radium", #"{"error":{"errors":[{"reason":"polonium"}]}}"#,
            #"{"orderId":"polonium","purchaseToken":"plutonium","state":"radium"}"#,
            #"{"voidedPurchases":{"plutonium":[}"#, #"{"receivedMessages":"radium"}"#,
        ] {
            let world = GoogleFixture.world { _ in .json(body, status: status) }
            let store = try GoogleFixture.store(world)
            let pubsub = try GoogleFixture.pubsub(world)
            let calls: [() async throws -> Any?] = [
                { try await store.lookUp(orderID: "GPA.polonium..1", at: GoogleFixture.now) },
                { try await store.voidedHints(after: "- 1 radium", at: GoogleFixture.now).hints },
                { try await pubsub.pull(isWaiting: false, at: GoogleFixture.now).hints },
                { try await pubsub.acknowledge(["plutonium"], at: GoogleFixture.now) },
                {
                    try await store.acknowledge(
                        purchase(.google, token: "plutonium"), at: GoogleFixture.now)
                },
            ]
            for call in calls {
                do { _ = try await call() } catch {
                    heard += "\(error) \(String(reflecting: error))"
                }
            }
        }
        #expect(status == 200 || heard.contains("("))
        for word in Self.planted { #expect(!heard.contains(word), "\(word)") }
    }
}
