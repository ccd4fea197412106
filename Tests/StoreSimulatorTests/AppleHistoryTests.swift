import Foundation
import Testing

@testable import StoreSimulator

@Suite("Apple's histories and customers")
struct AppleHistoryTests {
    private func read(_ stage: Stage, _ path: String) throws -> Reply {
        stage.get("/inApps/" + path, bearer: try stage.appleToken())
    }

    private func ids(_ reply: Reply) throws -> [Int64] {
        try #require(reply.object["signedTransactions"] as? [String]).map { text in
            try #require(Int64(Signed(text).payload["transactionId"] as? String ?? ""))
        }
    }

    /// A weekly subscription of thirty periods.
    private func subscriber(_ stage: Stage) throws -> Purchase {
        _ = stage.control("POST", "/clock", #"{"set":"2026-08-01T00:00:00Z"}"#)
        return try stage.buy(.apple, #","start":"2026-01-05T00:00:00Z","period":"P1W""#)
    }

    @Test("the history comes in pages of twenty, up to its end")
    func pages() throws {
        let stage = try Stage()
        let purchase = try subscriber(stage)
        let first = try read(stage, "v2/history/\(purchase.token)")
        let revision = try #require(first.object["revision"] as? String)
        let second = try read(stage, "v2/history/\(purchase.token)?revision=\(revision)")
        #expect(first.object["hasMore"] as? Bool == true)
        #expect(second.object["hasMore"] as? Bool == false)
        let base = try #require(Int64(purchase.token))
        #expect(try ids(first) + ids(second) == (0..<30).map { base + $0 })
        let end = try #require(second.object["revision"] as? String)
        let third = try read(stage, "v2/history/\(purchase.token)?revision=\(end)")
        #expect(try ids(third).isEmpty)
        #expect(third.object["revision"] as? String == end)
    }

    @Test("a refund brings its transaction into the history again")
    func bringsRefunds() throws {
        let stage = try Stage()
        let purchase = try stage.buy(.apple)
        let before = try read(stage, "v2/history/\(purchase.token)")
        let revision = try #require(before.object["revision"] as? String)
        #expect(try ids(read(stage, "v2/refund/lookup/\(purchase.token)")).isEmpty)
        _ = stage.control("POST", "/clock", #"{"advance":"PT1H"}"#)
        _ = stage.act("refund", purchase)
        let after = try read(stage, "v2/history/\(purchase.token)?revision=\(revision)")
        #expect(try ids(after).map(String.init) == [purchase.token])
        let refunds = try read(stage, "v2/refund/lookup/\(purchase.token)")
        #expect(try ids(refunds).map(String.init) == [purchase.token])
    }

    @Test(
        "filters and refuses as it is told",
        arguments: [
            ("sort=DESCENDING&productId=pro.monthly", 200, 20), ("productId=other", 200, 0),
            ("revoked=True", 200, 0), ("startDate=1785000000000", 200, 1),
            ("endDate=1768000000000", 200, 1), ("productType=CONSUMABLE", 200, 0),
            ("sort=UP", 4_000_021, 0), ("revoked=maybe", 4_000_030, 0),
            ("startDate=soon", 4_000_015, 0), ("revision=abc", 4_000_005, 0),
        ])
    func filters(_ query: String, _ outcome: Int, _ count: Int) throws {
        let stage = try Stage()
        let purchase = try subscriber(stage)
        let reply = try read(stage, "v2/history/\(purchase.token)?\(query)")
        if outcome == 200 {
            #expect(try ids(reply).count == count)
        } else {
            #expect(reply.object["errorCode"] as? Int == outcome)
        }
    }

    @Test("a revision belongs to the filters that it was given with")
    func bindsRevisions() throws {
        let stage = try Stage()
        let purchase = try subscriber(stage)
        let first = try read(stage, "v2/history/\(purchase.token)")
        let revision = try #require(first.object["revision"] as? String)
        let path = "v2/history/\(purchase.token)?revoked=false&revision=\(revision)"
        #expect(try read(stage, path).object["errorCode"] as? Int == 4_000_005)
    }

    @Test("all purchases of a customer are answered, the one asked for last")
    func answersCustomers() throws {
        let stage = try Stage()
        let mine = try stage.buy(.apple, #","customer":"ann""#)
        let other = try stage.buy(.apple, #","customer":"ann","group":"2""#)
        _ = try stage.buy(.apple, #","customer":"bob""#)
        let entries = { (reply: Reply) throws -> [String] in
            try #require(reply.object["data"] as? [[String: Any]]).flatMap { group in
                try #require(group["lastTransactions"] as? [[String: Any]]).compactMap {
                    $0["originalTransactionId"] as? String
                }
            }
        }
        #expect(try entries(stage.apple(mine.token)) == [other.token, mine.token])
        _ = stage.act("refund", other)
        let active = try read(stage, "v1/subscriptions/\(mine.token)?status=1")
        #expect(try entries(active) == [mine.token])
    }

    @Test("a single transaction is found by its own id, and a future one is not")
    func findsTransactions() throws {
        let stage = try Stage()
        let purchase = try subscriber(stage)
        let base = try #require(Int64(purchase.token))
        let reply = try read(stage, "v1/transactions/\(base + 3)")
        let signed = try Signed(#require(reply.object["signedTransactionInfo"] as? String))
        #expect(signed.payload["transactionId"] as? String == String(base + 3))
        #expect(signed.payload["originalTransactionId"] as? String == purchase.token)
        #expect(try read(stage, "v1/transactions/\(base + 30)").status == 404)
    }
}
