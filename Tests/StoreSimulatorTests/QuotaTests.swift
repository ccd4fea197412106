import Foundation
import Testing

@testable import StoreSimulator

@Suite("Quotas")
struct QuotaTests {
    @Test(
        "refuse one call too many in each store's own words",
        arguments: [
            (StoreName.apple, "PT10M", 429, "4290000"),
            (.google, "PT10M", 429, "rateLimitExceeded"),
            (.google, "P1D", 403, "rateLimitExceeded"), (.amazon, "PT10M", 429, "Too many"),
        ])
    func refuse(_ store: StoreName, _ per: String, _ status: Int, _ words: String) throws {
        let stage = try Stage()
        let purchase = try stage.buy(store)
        let body = #"{"store":"\#(store.rawValue)","calls":2,"per":"\#(per)"}"#
        #expect(stage.control("POST", "/quotas", body).status == 200)
        for _ in 1...2 { #expect(try stage.ask(purchase).status == 200) }
        let refused = try stage.ask(purchase)
        #expect(refused.status == status && refused.text.contains(words))
        let quotas = stage.control("GET", "/quotas").object["quotas"] as? [[String: Any]]
        #expect(quotas?.first?["refused"] as? Int == 1)
        _ = stage.control("DELETE", "/quotas")
        #expect(try stage.ask(purchase).status == 200)
    }

    @Test("let calls through again once the span is over, and Apple says when that is")
    func letThrough() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        _ = stage.control("POST", "/quotas", #"{"store":"apple","calls":1,"per":"PT2H"}"#)
        let before = SimulatedClock.machineNow.milliseconds
        #expect(try stage.ask(purchase).status == 200)
        let header = try #require(try stage.ask(purchase).headers.first)
        let again = try #require(Int64(header.1))
        #expect(header.0 == "retry-after")
        #expect((7_100_000...7_300_000).contains(again - before))
        _ = stage.control("POST", "/clock", #"{"advance":"PT2H1S"}"#)
        #expect(try stage.ask(purchase).status == 200)
    }

    @Test("are each app's own, and of one endpoint where they say so")
    func areOfAnApp() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.google)
        _ = try stage.buy(.google, #","app":"com.example.other""#)
        _ = stage.control(
            "POST", "/quotas",
            #"{"store":"google","endpoint":"subscription","calls":1,"per":"PT10M"}"#)
        let bearer = try stage.googleBearer()
        let own = Stage.googlePath(purchase.token)
        let other = Stage.googlePath(purchase.token, app: "com.example.other")
        let root = "/androidpublisher/v3/applications/com.example.reader/purchases/"
        #expect(stage.get(own, bearer: bearer).status == 200)
        #expect(stage.get(own, bearer: bearer).status == 429)
        #expect(stage.get(other, bearer: bearer).status == 400)
        #expect(stage.get(root + "voidedpurchases", bearer: bearer).status == 200)
    }

    @Test(
        "that make no sense are refused",
        arguments: [
            "apple=0/PT1S", "apple=5", "microsoft=5/PT1S", "google=5/soon", "amazon=5/PT0S",
        ])
    func refusesNonsense(_ text: String) {
        #expect(Quota(text: text) == nil)
    }
}
