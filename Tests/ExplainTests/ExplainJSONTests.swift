import Explain
import Foundation
import Ledger
import Renewal
import Testing

/// What `renewald explain --json` prints: its names are a promise.
struct ExplainJSONTests {
    /// Every object, and all of its keys; steps are the same wherever they are.
    static let keys = """
        : found_by notes now users
        users: claimed entitlements parted purchases unread user
        users.claimed: app id owner product store
        users.entitlements: active entitlement event_id expires_at in_grace product purchase_id \
        reason since store will_renew
        users.parted: app id product steps store
        users.purchases: access app auto_renew checked_at environment evidence_complete \
        evidence_since expires_at id kind next_check_at next_check_why order_id original_id \
        paid_through problem product state steps store submitted_at
        users.unread: app id problem product store
        steps: at check events
        steps.check: access access_before answer calls expires_at heard \
        next_check_at order_id paid_through problem product rule state state_before user
        steps.check.calls: bytes name sha256 status
        steps.events: effective_at entitlement expires_at id key kind product \
        reason user
        """

    @Test(arguments: [(1, 3), (8, 300)])
    func hasEveryKeyInEveryObject(_ purchases: Int, _ checks: Int) throws {
        let crowd = Sample.crowd(purchases: purchases, checks: checks)
        let history = UserHistory(
            userID: "ada", now: crowd.now, entitlements: crowd.entitlements,
            purchases: crowd.purchases,
            parted: crowd.purchases.prefix(1).map {
                PartedPurchase(purchaseID: 99, evidence: $0.evidence, events: $0.events)
            }, claimed: crowd.purchases.prefix(1).map(\.claim),
            unreadable: [
                UnreadablePurchase(id: 98, column: "lapse", place: .start(of: 1), lane: 1)
            ])
        var found: [String: Set<[String]>] = [:]
        collect(try object(of: [history]), at: "", into: &found)
        let expected = Self.keys.split(separator: "\n").map { line in
            line.split(separator: ":", omittingEmptySubsequences: false)
        }
        #expect(Set(found.keys) == Set(expected.map { String($0[0]) }))
        for line in expected {
            let names = line[1].split(separator: " ").map(String.init)
            #expect(found[String(line[0])] == [names], "\(line[0])")
        }
    }

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
        let first = try steps(of: history)[0]
        #expect((first["check"] as? [String: Any])?["order_id"] is NSNull)
    }

    @Test func tellsThatNothingIsFound() throws {
        #expect(
            try text(of: [])
                == #"{"found_by":"nothing","notes":[],"now":"2026-09-21T10:31:00Z","users":[]}"#)
    }

    // MARK: Helpers

    private func text(of histories: [UserHistory]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let explanation = Explanation(
            finding: .user, now: histories.first?.now ?? Sample.start, users: histories)
        return String(decoding: try encoder.encode(ExplanationJSON(explanation)), as: UTF8.self)
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

    private func collect(_ value: Any, at path: String, into found: inout [String: Set<[String]>]) {
        if let list = value as? [Any] {
            for item in list { collect(item, at: path, into: &found) }
        } else if let object = value as? [String: Any] {
            found[path, default: []].insert(object.keys.sorted())
            for (key, item) in object {
                let isInner = !path.isEmpty && key != "steps"
                collect(item, at: isInner ? "\(path).\(key)" : key, into: &found)
            }
        }
    }
}
