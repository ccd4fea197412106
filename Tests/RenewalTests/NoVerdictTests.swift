import Renewal
import TestSupport
import Testing

/// Rule 1, tried with every failure and every state.
@Suite struct NoVerdictTests {
    static let failures = [
        "unreachable", "throttled", "throttled retry=90s", "refused", "malformed", "signature",
        "mismatch", "rejected", "unsupported",
    ]
    static let states = [
        "new", "pending 30 never", "active 30", "active 60", "active 30 off", "active 30 trial",
        "active 30 sandbox", "active product=lifetime", "active 30 product=pass30",
        "active product=coins", "active 30 lapse=unverifiable", "grace 30 until=33",
        "grace 30 until=33 lapse=payment_pending", "hold 30", "hold 30 never", "paused 30",
        "expired 30", "expired 30 lenient", "expired 30 lapse=cancelled", "expired 30 never",
        "refunded 60", "refunded 60 lenient", "revoked 60", "superseded 60", "superseded 60 never",
        "invalid 60", "invalid never",
    ]

    @Test(arguments: failures, states)
    func changesNothingButScheduleAndProblem(_ failure: String, _ known: String) throws {
        for jitter in [0, 0.999] {
            var stage = try Stage(Story(head: "a failure | \(known) checked=30"), jitter: jitter)
            let before = try stage.purchase(1).facts
            let rows = stage.book.entitlements
            let (outcome, settlement) = try stage.hear(failure, at: "31+1h")
            var facts = outcome.facts
            // A token that never was granted waits for its second rejection: nothing else moves.
            if failure == "rejected", before.isUnconfirmed { facts.doubt = before.doubt }
            #expect(facts == before)
            #expect(settlement.events.isEmpty && settlement.entitlements.isEmpty)
            #expect(stage.book.entitlements == rows)
            let code = failure.split(separator: " ").first.map(String.init)
            #expect(outcome.schedule.problem?.code.rawValue == code)
            #expect(!outcome.isVerdict && outcome.schedule.attempts == 1)
            let wait = outcome.schedule.nextCheckAt - (try TestCalendar.time("31+1h"))
            #expect(wait >= .seconds(5) && wait <= .hours(24) * 1.1)
        }
    }

    @Test(arguments: failures, states)
    func neverRevokesHoweverOften(_ failure: String, _ known: String) throws {
        var stage = try Stage(Story(head: "failures | \(known) checked=30"))
        let before = try stage.purchase(1).facts
        for day in 31..<60 {
            let (outcome, settlement) = try stage.hear(failure, at: "\(day)")
            #expect(outcome.facts.access == before.access)
            #expect(outcome.facts.holdings == before.holdings)
            let told = settlement.events.map(\.kind)
            let mayTell = failure == "rejected" && day == 32 && before.isUnconfirmed
            #expect(told == (mayTell && before.state != .invalid ? [.notice(.rejected)] : []))
        }
    }

    /// A second answer leaves nothing open, nor does one that says no more than is known.
    @Test(arguments: [
        ("active 30", "gone", [false, true]), ("expired 30", "gone", [true, true]),
        ("new", "not_found", [false, true]), ("active 30", "unreachable", [false, false]),
        ("expired 30", "unreachable", [false, false]), ("active 30", "active 60", [true, true]),
    ])
    func whatIsConfirmedIsJudged(_ known: String, _ heard: String, _ isJudged: [Bool]) throws {
        var stage = try Stage(Story(head: "twice | \(known)"))
        let seen = try ["40", "41"].map { try stage.hear(heard, at: $0).0.isJudged }
        #expect(seen == isJudged)
    }

    @Test func waitsAsLongAsTheStoreAsks() throws {
        var stage = try Stage(Story(head: "throttled | active 30"), jitter: 0)
        let (outcome, _) = try stage.hear("throttled retry=90s", at: "10")
        #expect(outcome.schedule.nextCheckAt == (try TestCalendar.time("10+90s")))
    }

    @Test func spreadsWhatFailedTogether() throws {
        let waits = try stride(from: 0, to: 1, by: 0.1).map { jitter in
            var stage = try Stage(Story(head: "an outage | active 30"), jitter: jitter)
            return try stage.hear("unreachable", at: "10").0.schedule.nextCheckAt
        }
        #expect(Set(waits).count == waits.count)
    }
}
