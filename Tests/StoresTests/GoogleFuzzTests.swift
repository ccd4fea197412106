import Foundation
import Renewal
import Testing

@testable import Stores

/// Mutated answers of the rarer questions: an error or an observation, never a crash, and never a
/// place to go on from that cannot be read. A run is repeated by its seed.
struct GoogleFuzzTests {
    private static let now = GoogleFixture.now

    private func mutations(of text: String, _ read: ([UInt8]) throws -> Void) rethrows {
        var mutator = Mutator(seed: FuzzTests.seed, of: text)
        for _ in 0..<FuzzTests.inputs { try read(mutator.next()) }
    }

    @Test func survivesMutatedAnswersOfVersionOne() {
        mutations(of: GoogleLegacyTests.base) { body in
            let facts = Facts(product: "plus")
            guard let wire = try? JSON.decode(GoogleLegacySubscription.self, from: body),
                let snapshot = try? wire.snapshot(of: facts, at: Self.now),
                let read = try? GoogleObservation(snapshot, facts: facts, at: Self.now)
            else { return }
            #expect(read.observation.items.map(\.names) == [["plus"]])
        }
    }

    @Test func survivesMutatedProducts() {
        let purchase = purchase(.google, token: "t")
        mutations(of: GoogleProductTests.base) { body in
            guard let wire = try? JSON.decode(GoogleProduct.self, from: body),
                let sale = try? wire.sale(at: Self.now)
            else { return }
            guard
                let read = try? GoogleSaleObservation(
                    sale: sale, facts: purchase.facts, kind: .consumable, at: Self.now)
            else { return }
            #expect(!read.observation.items.isEmpty)
        }
        mutations(of: GoogleProductTests.legacyBase) { body in
            guard let wire = try? JSON.decode(GoogleLegacyProduct.self, from: body),
                let sale = try? wire.sale(of: purchase, at: Self.now)
            else { return }
            guard
                let read = try? GoogleSaleObservation(
                    sale: sale, facts: purchase.facts, kind: .consumable, at: Self.now)
            else { return }
            #expect(read.observation.items.map(\.names) == [["plus"]])
        }
    }

    @Test func survivesMutatedHintsAndOrders() {
        let void =
            #"{"tokenPagination":{"nextPageToken":"x"},"voidedPurchases":[{"purchaseToken":"a","#
            + #""orderId":"GPA.1..0","voidedTimeMillis":"1771588800000","voidedQuantity":1}]}"#
        mutations(of: void) { body in
            let page = try? JSON.decode(GoogleVoidedPage.self, from: body)
            for hint in (page?.voidedPurchases ?? []).compactMap(\.hint) {
                #expect(hint.id.text.hasPrefix("google voided "))
            }
        }
        mutations(of: "1771585200000 1771588000000 page") { text in
            let place = VoidedPlace(String(decoding: text, as: UTF8.self))
            #expect(place == nil || VoidedPlace(place?.text) == place)
            let start = place?.start(at: Self.now) ?? Self.now
            #expect(start >= Self.now - .days(30))
        }
        let order =
            #"{"orderId":"GPA.1..0","purchaseToken":"t","state":"REFUNDED","createTime":"#
            + #""2026-02-15T10:21:40Z","lineItems":[{"productId":"plus"}]}"#
        mutations(of: order) { body in
            let wire = try? JSON.decode(GoogleOrderWire.self, from: body)
            #expect((try? wire?.order(at: Self.now))?.id.isEmpty != true)
        }
        let news =
            #"{"packageName":"p","subscriptionNotification":{"purchaseToken":"a"}}"#
        mutations(of: news) { body in
            _ = (try? JSON.decode(GoogleNotification.self, from: body))?.token
        }
    }

    /// What the one reader takes, the other takes too, and both see the same texts.
    @Test func readsAsFoundationDoes() throws {
        struct Texts: Decodable {
            let subscriptionState: String?
            let latestOrderId: String?
        }
        var taken = 0
        mutations(of: GoogleObservationTests.base) { body in
            guard let json = try? JSONObject(try JSONTree(body)),
                let state = try? json.text("subscriptionState"),
                let order = try? json.text("latestOrderId")
            else { return }
            taken += 1
            let other = try? JSONDecoder().decode(Texts.self, from: Data(body))
            #expect(other?.subscriptionState == state)
            #expect(other?.latestOrderId == order)
        }
        #expect(taken > FuzzTests.inputs / 10)
    }
}

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
