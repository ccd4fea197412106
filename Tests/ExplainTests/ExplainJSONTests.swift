import Explain
import Foundation
import Ledger
import Renewal
import Testing

/// What `renewald explain --json` prints; `JSONPageTests` hold its names.
struct ExplainJSONTests {
    @Test func tellsWhatHappened() throws {
        let steps = try steps(of: Sample.lapsed)
        let last = try #require(steps.last)
        #expect(last["at"] as? String == "2026-11-21T10:31:05Z")
        let check = try #require(last["check"] as? [String: Any])
        #expect(check["answer"] as? String == "verdict")
        #expect(check["state_before"] as? String == "active")
        #expect(check["state"] as? String == "expired")
        let call = try #require((check["calls"] as? [[String: Any]])?.first)
        #expect(call["status"] as? Int == 200 && call["sha256"] as? String == Sample.digest)
        let event = try #require((last["events"] as? [[String: Any]])?.first)
        #expect(event["reason"] as? String == "cancelled")
        #expect(event["effective_at"] as? String == "2026-11-21T10:31:00Z")
    }

    @Test func neverShowsAToken() throws {
        let amazon = AppKey(store: .amazon, id: "com.example.reader")
        let history = Sample.history([
            Sample.purchase(
                app: amazon, state: .active, access: .granted, orderID: OrderID(Sample.token.text),
                checks: [Sample.Check(at: Sample.start, told: [("grant", "purchased")])])
        ])
        #expect(!(try text(of: [history])).contains("planted"))
        #expect(!String(reflecting: explanation(of: [history])).contains("planted"))
        let first = try steps(of: history)[0]
        #expect((first["check"] as? [String: Any])?["order_id"] is NSNull)
    }

    @Test func tellsThatNothingIsFound() throws {
        #expect(
            try text(of: [])
                == #"{"found_by":"nothing","notes":[],"now":"2026-09-21T10:31:00Z","users":[]}"#)
    }

    // MARK: Helpers

    private func explanation(of histories: [UserHistory]) -> Explanation {
        Explanation(finding: .user, now: histories.first?.now ?? Sample.start, users: histories)
    }

    private func text(of histories: [UserHistory]) throws -> String {
        try explanation(of: histories).line()
    }

    private func object(of histories: [UserHistory]) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(try text(of: histories).utf8))
    }

    private func steps(of history: UserHistory) throws -> [[String: Any]] {
        let users = try #require((try object(of: [history]) as? [String: Any])?["users"])
        let user = try #require((users as? [[String: Any]])?.first)
        let purchase = try #require((user["purchases"] as? [[String: Any]])?.first)
        return try #require(purchase["steps"] as? [[String: Any]])
    }
}
