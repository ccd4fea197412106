import Ledger
import Logging
import Postgres
import Renewal
import TestSupport
import Testing

@testable import Daemon

/// Another policy or table of products for a whole fleet (design rule 14), with the real database.
@Suite(.serialized) struct ApplyTests {
    private static let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func rules(
        _ products: [ProductID: [EntitlementID]], _ change: (inout Policy) -> Void = { _ in }
    ) -> Rules {
        var rules = Rules(
            catalog: Catalog(products.mapValues { .init(kind: nil, entitlements: $0) }))
        change(&rules.policy)
        return rules
    }

    private func apply(_ fleet: KeptFleet, _ rules: Rules) async throws -> Apply.Report {
        try await Apply(fleet.ledger, under: rules, keepsEvidence: true, log: Self.log).run()
    }

    @Test func anAddedEntitlementReachesItsBuyers() async throws {
        let fleet = try await KeptFleet(users: ["ann": ["pro"], "bob": ["pro"], "cyd": ["other"]])
        let more = rules(["pro": ["pro", "plus"]])
        let before = try await fleet.everything()
        let shown = try await WhatIf(fleet.ledger, under: more).run()
        #expect(shown.purchases == 3 && shown.changed == 2 && shown.unknown == 0)
        #expect(shown.gain == ["plus": 2] && shown.lose == [:])
        #expect(shown.because == ["product_changed": 2])
        #expect(try await fleet.everything() == before, "nothing was written")
        let done = try await apply(fleet, more)
        #expect(done.difference == shown && done.held == 0 && done.left == 0)
        #expect(
            try await fleet.told() == [
                "ann grant plus product_changed", "bob grant plus product_changed",
            ])
        #expect(try await WhatIf(fleet.ledger, under: more).run().changed == 0)
        #expect(try await apply(fleet, more).difference.changed == 0)
        // The next answer says the same, and nothing comes of it.
        #expect(try await fleet.hear(more).events.isEmpty)
        #expect(try await fleet.told().count == 2)
        await fleet.close()
    }

    /// What many have goes to one: who gains it gains it once, however many are read at once.
    @Test func aUserIsCountedOnceWhoeverHisPurchasesCameFrom() async throws {
        let names = (0..<(WhatIf.pageLimit + 20)).map { "user \($0)" }
        let fleet = try await KeptFleet(
            users: Dictionary(uniqueKeysWithValues: names.map { ($0, ["pro"]) }))
        for name in names { try await fleet.claim(of: name, by: "bob") }
        _ = try await fleet.hear(Rules())
        let moving = rules([:]) { $0.shared = .move }
        let before = try await fleet.everything()
        let shown = try await WhatIf(fleet.ledger, under: moving).run()
        #expect(shown.purchases == names.count && shown.changed == names.count)
        #expect(shown.gain == ["pro": 1] && shown.lose == ["pro": names.count])
        #expect(shown.because == ["transferred": names.count + 1])
        #expect(try await fleet.everything() == before, "nothing was written")
        let done = try await apply(fleet, moving)
        #expect(done.difference == shown && done.left == 0)
        #expect(try await fleet.holders() == ["bob pro"])
        #expect(try await WhatIf(fleet.ledger, under: moving).run().changed == 0)
        await fleet.close()
    }

    /// Those who get what another has as a purchase of their own gain with the answer about that.
    @Test func thoseWhoShareAreNamedAndGainWithTheNextAnswer() async throws {
        let fleet = try await KeptFleet(users: ["ann": ["pro"], "cyd": ["pro"]])
        for user in ["bob", "dan"] { try await fleet.claim(of: "ann", by: user) }
        _ = try await fleet.hear(Rules())
        let shared = rules([:]) { $0.shared = .allow }
        let shown = try await WhatIf(fleet.ledger, under: shared).run()
        #expect(shown.changed == 1 && shown.sharing == 2 && shown.gain == [:])
        #expect(try await apply(fleet, shared).difference == shown)
        #expect(try await fleet.holders() == ["ann pro", "cyd pro"])
        _ = try await fleet.hear(shared)
        #expect(try await fleet.holders() == ["ann pro", "bob pro", "cyd pro", "dan pro"])
        await fleet.close()
    }

    @Test func aUserIsCountedOnceWhateverHisPurchasesGive() async throws {
        let fleet = try await KeptFleet(users: [
            "both lose": ["one", "two"], "one stays": ["one", "pro"], "swaps": ["left", "right"],
        ])
        let before = rules([
            "one": ["pro"], "two": ["pro"], "left": ["l"], "right": ["r"],
        ])
        _ = try await apply(fleet, before)
        try await fleet.script("TRUNCATE renewald.event")
        let next = rules(["one": ["base"], "two": ["base"], "left": ["r"], "right": ["l"]])
        let shown = try await WhatIf(fleet.ledger, under: next).run()
        #expect(shown.lose == ["pro": 1] && shown.gain == ["base": 2])
        #expect(shown.changed == 5)
        let done = try await apply(fleet, next)
        #expect(done.difference == shown)
        #expect(
            try await fleet.told().sorted() == [
                "both lose grant base product_changed", "both lose revoke pro product_changed",
                "one stays grant base product_changed",
            ])
        #expect(
            try await fleet.holders() == [
                "both lose base", "one stays base", "one stays pro",
                "swaps l", "swaps r",
            ])
        await fleet.close()
    }

    /// What a page has told of users is not read once more, and the same comes of it.
    @Test func thePurchasesOfAPageAreReadOnce() async throws {
        let fleet = try await KeptFleet(users: [
            "ann": ["one", "two"], "bob": ["two"], "cyd": ["other"],
        ])
        let next = rules(["one": ["base"], "two": ["base", "two"]])
        let page = try await fleet.ledger.keptPage(after: nil, limit: 10)
        let outcomes = page.outcomes(under: next)
        let now = try #require(outcomes.map(\.claim.claimedAt).max())
        let read = try await fleet.ledger.preview(outcomes, at: now).events
        #expect(read.count == 3)
        try await fleet.script("ALTER TABLE renewald.purchase RENAME TO elsewhere")
        await #expect(throws: LedgerError.self) {
            _ = try await fleet.ledger.preview(outcomes, at: now)
        }
        #expect(try await fleet.ledger.preview(outcomes, at: now, in: page).events == read)
        await fleet.close()
    }

    @Test func whatIsTakenIsUnderTheBreaker() async throws {
        let names = (0..<30).map { "user \($0)" }
        let fleet = try await KeptFleet(
            users: Dictionary(uniqueKeysWithValues: names.map { ($0, ["pro"]) }))
        let none = rules(["pro": []])
        let shown = try await WhatIf(fleet.ledger, under: none).run()
        #expect(shown.lose == ["pro": 30] && shown.because == ["product_changed": 30])
        let done = try await apply(fleet, none)
        #expect(done.held == 10 && done.difference.lose == ["pro": 20])
        #expect(try await fleet.number("SELECT count(*) FROM renewald.held") == 10)
        #expect(
            try await fleet.number(
                "SELECT count(*) FROM renewald.events WHERE reason = 'product_changed'") == 20)
        // Again: what is held stays so.
        #expect(try await apply(fleet, none).held == 0)
        #expect(try await fleet.number("SELECT count(*) FROM renewald.held") == 10)
        // It was a mistake: what was taken is given back, and what is held is dropped.
        let back = try await apply(fleet, rules(["pro": ["pro"]]))
        #expect(back.difference.gain == ["pro": 20])
        #expect(back.difference.because == ["product_changed": 20])
        #expect(try await fleet.number("SELECT count(*) FROM renewald.held") == 0)
        #expect(try await fleet.holders().count == 30)
        await fleet.close()
    }

    @Test func aPolicyIsAppliedAndTakenBack() async throws {
        let fleet = try await KeptFleet(users: ["ann": ["pro"], "bob": ["pro"]]) { claim in
            var observation = KeptFleet.inForce(claim)
            if claim.purchase.userID == "bob" {
                observation.observed = .own(.grace(expiryMovedUnpaid: false))
            }
            return observation
        }
        let strict = rules([:]) { $0.grace = .revoke }
        let shown = try await WhatIf(fleet.ledger, under: strict).run()
        #expect(shown.lose == ["pro": 1] && shown.because == ["payment_pending": 1])
        #expect(try await apply(fleet, strict).difference == shown)
        #expect(try await fleet.holders() == ["ann pro"])
        let back = try await apply(fleet, rules([:]))
        #expect(back.difference.gain == ["pro": 1])
        #expect(back.difference.because == ["manual": 1])
        await fleet.close()
    }

    @Test func whatIsNotKeptIsCountedAndLeftAlone() async throws {
        let fleet = try await KeptFleet(users: ["ann": ["pro"], "bob": ["pro"]])
        try await fleet.script(
            """
            DELETE FROM renewald.observation USING renewald.purchase
            WHERE purchase.id = observation.id AND purchase.user_id = 'ann'
            """)
        let more = rules(["pro": ["pro", "plus"]])
        let shown = try await WhatIf(fleet.ledger, under: more).run()
        #expect(shown.purchases == 2 && shown.unknown == 1 && shown.gain == ["plus": 1])
        _ = try await apply(fleet, more)
        #expect(try await fleet.holders() == ["ann pro", "bob plus", "bob pro"])
        await fleet.close()
    }

    /// A worker has claimed it and asks its store meanwhile: the version decides.
    @Test func anAnswerThatWasUnderWayIsHeardAnew() async throws {
        let fleet = try await KeptFleet(users: ["ann": ["pro"]])
        let (lease, claims) = try await fleet.claim()
        let more = rules(["pro": ["pro", "plus"]])
        #expect(try await apply(fleet, more).difference.gain == ["plus": 1])
        let late = try await fleet.commit(claims, lease, Rules()) { claim in
            var observation = KeptFleet.inForce(claim)
            observation.observed = .own(.refunded(at: nil))
            return observation
        }
        #expect(late.committed.isEmpty && late.dropped.count == 1 && late.events.isEmpty)
        #expect(try await fleet.holders() == ["ann plus", "ann pro"])
        await fleet.close()
    }

    @Test func twoAtOnceDoWhatOneDoes() async throws {
        let names = (0..<40).map { "user \($0)" }
        let fleet = try await KeptFleet(
            users: Dictionary(uniqueKeysWithValues: names.map { ($0, ["pro"]) }))
        let more = rules(["pro": ["pro", "plus"]])
        let other = fleet.furtherLedger()
        async let first = Apply(
            fleet.ledger, under: more, keepsEvidence: true, log: Self.log
        ).run()
        async let second = Apply(other, under: more, keepsEvidence: true, log: Self.log).run()
        let both = try await [first, second]
        #expect(both.reduce(0) { $0 + ($1.difference.gain["plus"] ?? 0) } == 40)
        #expect(try await fleet.told().count == 40)
        await other.close()
        await fleet.close()
    }

    @Test func keptDecisionsAreMadeAgainAndASabotageIsFound() async throws {
        let fleet = try await KeptFleet(users: ["ann": ["pro"], "bob": ["pro"]]) { claim in
            var observation = KeptFleet.inForce(claim)
            observation.observed = .own(.grace(expiryMovedUnpaid: false))
            return observation
        }
        let since = Timestamp(microsecondsSinceEpoch: 0)
        func replay() async throws -> Replay.Report {
            try await Replay(fleet.ledger, since: since).run()
        }
        var report = try await replay()
        #expect(report.decided == 2 && report.different == 0 && report.unreadable == 0)
        try await fleet.script(
            """
            UPDATE renewald.evidence SET access = 'none'
            WHERE user_id = 'ann'
            """)
        report = try await replay()
        #expect(report.different == 1)
        #expect(report.examples.map(\.names) == [["the row of the evidence"]])
        try await fleet.script(
            #"UPDATE renewald.policy SET rules = jsonb_set(rules, '{policy,grace}', '"revoke"')"#)
        report = try await replay()
        #expect(report.decided == 2 && report.different == 2)
        try await fleet.script("UPDATE renewald.evidence SET record = set_byte(record, 0, 77)")
        report = try await replay()
        #expect(report.decided == 0 && report.unreadable == 2)
        await fleet.close()
    }
}
