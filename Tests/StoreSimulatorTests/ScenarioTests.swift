import Synchronization
import Testing

@testable import StoreSimulator

@Suite("Scenarios")
struct ScenarioTests {
    @Test(
        "of the library are lived in each of their stores as they expect",
        arguments: ScenarioLibrary.names)
    func livesTheLibrary(_ name: String) throws {
        let scenario = try Scenario(text: try #require(ScenarioLibrary.texts[name]))
        #expect(scenario.steps.contains { if case .expect = $0.what { true } else { false } })
        for store in scenario.stores {
            var world = try Stage().responder.world.withLock { $0 }
            let planted = try world.plant(
                scenario, in: store, start: Days.start, app: "com.example.reader", user: nil)
            for check in planted.checks { #expect(check.isMet, "\(store) \(check)") }
        }
    }

    /// What stands below `on day 0: buy pro`, and what the error says.
    static let mistakes = rows(
        """
        line                                  error
        on day 3 payment fails                expected "on day N:" or "on day N at HH:MM:"
        on day x: cancels                     expected "on day N:" or "on day N at HH:MM:"
        on day 3 at 25:00: cancels            expected "on day N:" or "on day N at HH:MM:"
        day 3: cancels                        expected "title TEXT", "stores STORE…" or "on day N: STEP"
        stores steam                          expected "stores" and some of apple, google, amazon
        on day 3: dances                      expected buy, fault, expect, does, or one of: payment fails
        on day 3: cancels soon                expected nothing after "cancels" and what it takes
        on day 3: [other] cancels             expected the name of a purchase above
        on day 3: buy max every month         expected an ISO 8601 duration
        on day 3: buy max kind rental         expected one of auto_renewable
        on day 3: buy max at                  expected a value after at
        on day 3: expect happiness            expected access, no access or one of pending
        on day 3: fault rain                  kind is none of status
        on day 3: fault status share 7        share is not between 0 and 1
        on day 3: changes to                  product is missing
        on day 3: does fly                    there is no such action
        on day 3: buy "max                    expected a closing quotation mark
        on day 3: pauses for ages             for is not an ISO 8601 duration
        """)

    @Test("say the line of a mistake and what is expected there", arguments: mistakes)
    func tellsMistakes(_ row: [String]) throws {
        let text = "title A mistake\n\n# a comment\non day 0: buy pro # another\n\(row[0])\n"
        let failure = try #require(throws: Scenario.Failure.self) { try Scenario(text: text) }
        #expect(failure.line == 5)
        #expect(failure.message.hasPrefix(row[1]), "\(failure.message)")
    }

    @Test("must begin with a title and a purchase, and go forward in time")
    func hasAnOrder() {
        func lines(_ text: String) -> Int? {
            do throws(Scenario.Failure) {
                _ = try Scenario(text: text)
                return nil
            } catch {
                return error.line
            }
        }
        #expect(lines("on day 0: buy pro") == 1)
        #expect(lines("title t\non day 0: cancels") == 2)
        #expect(lines("title t\non day 5: buy pro\non day 4: cancels") == 3)
        #expect(lines("title t") == 1)
        #expect(lines("title t\r\non day 0: buy pro\r\n") == nil)
    }

    @Test("that cannot be lived change nothing")
    func refusesTheImpossible() throws {
        let stage = try Stage()
        let text = #"title t\non day 0: buy pro\non day 3: resumes"#
        let reply = stage.control("POST", "/scenarios", #"{"text":"\#(text)"}"#)
        #expect(reply.status == 409)
        #expect(reply.text.contains("line 3: this cannot happen: no pause is planned"))
        #expect(stage.responder.world.withLock { $0.purchases.isEmpty && $0.faults.isEmpty })
    }

    @Test("are lived by the control calls, as often and in the stores that they say")
    func runsByControl() throws {
        let stage = try Stage()
        _ = stage.control("POST", "/clock", #"{"set":"2026-01-01T00:00:00Z"}"#)
        let name = "payment-fails-and-recovers-in-grace"
        let body = #"{"name":"\#(name)","count":3,"user":"ada","start":"2026-01-01T00:00:00Z"}"#
        let reply = stage.control("POST", "/scenarios", body).object
        #expect((reply["purchases"] as? [Any])?.count == 9)
        let checks = try #require(reply["expectations"] as? [[String: Any]])
        #expect(checks.count == 27 && checks.allSatisfy { $0["met"] as? Bool == true })
        _ = stage.control("POST", "/clock", #"{"set":"2026-01-31T00:00:00Z"}"#)
        let summary = stage.control("GET", "/truth/summary").object
        #expect((summary["states"] as? [String: Int]) == ["grace": 9])
        #expect((summary["entitled"] as? [String: Int]) == ["apple": 3, "google": 3, "amazon": 3])
        #expect(stage.control("POST", "/scenarios", #"{"name":"nothing"}"#).status == 404)
        let google = #"{"name":"comes-back-after-expiry","store":"google"}"#
        #expect(stage.control("POST", "/scenarios", google).status == 400)
        let list = stage.control("GET", "/scenarios").object["scenarios"] as? [Any]
        #expect(list?.count == ScenarioLibrary.names.count)
        #expect(stage.control("GET", "/scenarios/\(name)").text.contains("payment fails"))
    }

    @Test("a fault of a scenario meets its purchase alone, at its time")
    func hasFaults() throws {
        let stage = try Stage()
        _ = stage.control("POST", "/clock", #"{"set":"2026-01-01T00:00:00Z","speed":0}"#)
        let other = try stage.buy(.amazon)
        _ = stage.control(
            "POST", "/scenarios", #"{"name":"store-down-at-renewal","store":"amazon"}"#)
        let purchase = stage.responder.world.withLock { $0.purchase(2) }
        #expect(stage.amazon(purchase).status == 200)
        _ = stage.control("POST", "/clock", #"{"advance":"P28D"}"#)
        #expect(stage.amazon(purchase).status == 503 && stage.amazon(other).status == 200)
        _ = stage.control("POST", "/clock", #"{"advance":"P2D"}"#)
        #expect(stage.amazon(purchase).status == 200)
    }
}

@Suite("Fleets")
struct FleetTests {
    private func fleet(_ seed: UInt64, _ count: Int) -> [Fleet.Member] {
        var fleet = Fleet(seed: seed, start: Days.start, days: 365, app: "com.example.reader")
        return (0..<count).map { _ in fleet.next() }
    }

    @Test("are the same for the same seed, and others for another")
    func followsTheSeed() {
        #expect(fleet(3, 200) == fleet(3, 200))
        #expect(fleet(3, 200) != fleet(4, 200))
    }

    @Test("have the proportions that they are said to have")
    func hasProportions() {
        let members = fleet(1, 4000)
        let percent = { (isOne: (Fleet.Member) -> Bool) in
            Double(members.count(where: isOne)) / 40
        }
        #expect((51...60).contains(percent { $0.timeline.store == .apple }))
        #expect((34...43).contains(percent { $0.timeline.store == .google }))
        #expect((86...90).contains(percent { $0.timeline.terms.kind == .autoRenewable }))
        #expect((57...63).contains(percent { $0.timeline.start < Days.start }))
    }

    @Test("hold only deeds that make sense when they are done, and every kind of end")
    func makesSense() {
        var ends: Set<String> = []
        for member in fleet(1, 2000) {
            let timeline = member.timeline
            var lived = Timeline(
                store: timeline.store, product: timeline.product, start: timeline.start,
                terms: timeline.terms)
            for act in timeline.acts {
                let objection = lived.life(at: act.at).objection(to: act.deed, store: lived.store)
                #expect(objection == nil, "\(timeline.store) \(timeline.acts) \(act.deed)")
                lived.add(act.deed, at: act.at)
            }
            for day in stride(from: 0.0, to: 365.0, by: 30) {
                ends.insert(timeline.life(at: max(timeline.start, Days.instant(day))).phase.word)
            }
        }
        let all = "active expired grace hold paused payment_failed refunded revoked"
        #expect(ends.isSuperset(of: all.split(separator: " ").map(String.init)))
    }

    @Test("are planted by a control call, and counted by the truth")
    func isPlanted() throws {
        let stage = try Stage()
        _ = stage.control("POST", "/clock", #"{"set":"2026-01-01T00:00:00Z","speed":0}"#)
        let reply = stage.control("POST", "/fleet", #"{"count":500,"seed":9,"days":90}"#).object
        #expect(reply["count"] as? Int == 500)
        let before = stage.control("GET", "/truth/summary").object["purchases"] as? Int
        _ = stage.control("POST", "/clock", #"{"advance":"P90D"}"#)
        let after = stage.control("GET", "/truth/summary").object["purchases"] as? Int
        #expect((250...350).contains(before ?? 0) && after == 500)
        #expect(stage.control("POST", "/fleet", #"{"count":0}"#).status == 400)
        #expect(stage.control("POST", "/fleet", #"{"days":0}"#).status == 400)
    }
}
