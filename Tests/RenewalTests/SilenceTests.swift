import Renewal
import TestSupport
import Testing

/// Rule 3: the limit of staleness counts the time in which a store was asked in vain, whatever it
/// said instead of an answer.
@Suite struct SilenceTests {
    static let silence = [
        "unreachable", "malformed", "refused", "throttled", "rejected", "pending",
        "ended 9 stated=9", "ended 9 stated=500",
    ]

    /// The day on which access ends, asked once a day from day 30 on, but for the days of a pause.
    private func end(
        _ heard: String, known: String, pause: Range<Int> = 0..<0
    ) throws -> Int? {
        var stage = try Stage(Story(head: "silence | \(known)"))
        for day in 30..<500 where !pause.contains(day) {
            let (outcome, _) = try stage.hear(heard, at: "\(day)+1h")
            if outcome.facts.access == .none { return day }
        }
        return nil
    }

    @Test(arguments: silence)
    func endsAccessAfterThirtyDaysOfAsking(_ heard: String) throws {
        #expect(try end(heard, known: "active 30 stated=10") == 61)
    }

    @Test(arguments: silence)
    func doesNotCountTheTimeInWhichNobodyAsked(_ heard: String) throws {
        // Forty days of ours, of which a day and a few hours count.
        let found = try end(heard, known: "active 30 stated=10", pause: 40..<80)
        #expect(found == 100)
        #expect(try end(heard, known: "active 30 stated=10", pause: 0..<150) == 181)
    }

    @Test func endsWhatAStoreLeavesOpen() throws {
        for store in Store.allCases {
            for known in ["active 30", "grace 30"] {
                let found = try end("active 30 period=p30", known: "\(known) \(store.rawValue)")
                #expect(found == 61, "\(store) \(known)")
            }
        }
    }

    /// A store that names no end of what will not renew: the period of a year may have begun.
    @Test func keepsForAYearWhatWasRenewedUnseen() throws {
        #expect(try end("active off", known: "active 30 amazon") == 30 + 366 + 31)
        #expect(try end("active off", known: "active 30 off amazon") == 61)
        #expect(try end("active 30 off period=p30", known: "active 30 amazon") == 61)
        #expect(try end("active off", known: "grace 30 amazon") == 61)
        #expect(try end("active off", known: "active 30") == 61)
    }

    @Test func keepsWhatAStoreMovesOn() throws {
        var stage = try Stage(Story(head: "late for ever | active 30"))
        for day in 31..<150 {
            let (outcome, _) = try stage.hear("active \(day - 1)", at: "\(day)")
            #expect(outcome.facts.access == .granted)
        }
    }

    /// However long and in whatever order: no verdict, no second opinion, nothing is taken.
    @Test func neverEndsARunningPeriod() async throws {
        try await Seeds.run { chance in
            var stage = try Stage(Story(head: "noise | active 900 stated=10"))
            for day in 30..<400 {
                var heard = Self.silence[Int.random(in: Self.silence.indices, using: &chance)]
                // Doubts, each of which an answer puts to rest before the next.
                if day.isMultiple(of: 3) { heard = "not_found" }
                if day % 3 == 1 { heard = "active 900" }
                let (outcome, settlement) = try stage.hear(heard, at: "\(day)")
                #expect(outcome.facts.access == .granted, "\(heard)")
                #expect(settlement.events.isEmpty, "\(heard)")
            }
        }
    }
}
