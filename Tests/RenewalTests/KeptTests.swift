import TestSupport
import Testing

@testable import Renewal

/// What is kept of decisions and observations (design rule 14), after any sequence of answers.
@Suite struct KeptTests {
    private static let worlds = 40
    private static let turns = 60

    private struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    private func play(
        _ check: (RandomWorld, RandomWorld.Turn, inout SeededGenerator) throws -> Void
    ) async throws {
        try await Seeds.run { chance in
            for _ in 0..<Self.worlds {
                var world = RandomWorld(&chance)
                for _ in 0..<Self.turns {
                    let turn = try world.turn(&chance)
                    try check(world, turn, &chance)
                }
            }
        }
    }

    private func demand(
        _ holds: Bool, _ rule: String, _ turn: RandomWorld.Turn
    ) throws {
        guard !holds else { return }
        throw Broken(
            description: "\(rule): \(turn.answer) about \(turn.claim.purchase.facts)"
                + " came to \(turn.outcome.facts)")
    }

    private func record(_ world: RandomWorld, _ turn: RandomWorld.Turn) -> DecisionRecord {
        let moment = Moment(now: turn.now, jitter: 0.25)
        let outcome = decide(turn.claim, hearing: turn.answer, at: moment, under: world.rules)
        return DecisionRecord(
            of: outcome, hearing: turn.answer, at: moment, isReleasing: false)
    }

    @Test func aKeptDecisionIsReadAsItWasWritten() async throws {
        try await play { world, turn, _ in
            let record = record(world, turn)
            let read = try DecisionRecord(record.bytes, ofPurchase: turn.claim.purchase.id)
            try demand(read.bytes == record.bytes, "the same bytes", turn)
            try demand(read.decided == record.decided, "the same decision", turn)
            let (claim, known) = (read.claim, turn.claim)
            try demand(claim.purchase.facts == known.purchase.facts, "the same facts", turn)
            try demand(claim.purchase.claimants == known.purchase.claimants, "claimants", turn)
            try demand(claim.inVain == known.inVain && claim.attempts == known.attempts, "", turn)
            guard case .failure = turn.answer else {
                return try demand(read.answer == record.answer, "the same answer", turn)
            }
        }
    }

    @Test func aKeptDecisionIsMadeAgain() async throws {
        try await play { world, turn, _ in
            let record = record(world, turn)
            let read = try DecisionRecord(record.bytes, ofPurchase: turn.claim.purchase.id)
            let again = read.decidedAgain(under: world.rules)
            try demand(
                again == record.decided,
                "made again, it differs in \(again.differences(from: record.decided))", turn)
        }
    }

    @Test func aKeptObservationIsReadAsItWasWritten() async throws {
        try await play { _, turn, _ in
            guard let kept = turn.outcome.kept else { return }
            let read = try KeptObservation(kept.bytes, predecessorToken: kept.predecessorToken)
            try demand(read == kept, "what was heard", turn)
        }
    }

    /// Bytes of anything else are refused; nothing is read beyond their end.
    @Test func damagedBytesAreRefusedOrReadAsOthers() async throws {
        try await play { world, turn, chance in
            let bytes = record(world, turn).bytes
            var cut = bytes
            cut.removeLast(Int.random(in: 1..<bytes.count, using: &chance))
            let read = try? DecisionRecord(cut, ofPurchase: 1)
            try demand(read == nil, "cut off", turn)
            var spoilt = bytes
            let place = Int.random(in: bytes.indices, using: &chance)
            spoilt[place] = UInt8.random(in: 0...255, using: &chance)
            if let read = try? DecisionRecord(spoilt, ofPurchase: 1) {
                _ = read.decidedAgain(under: world.rules)
            }
            var later = bytes
            later[0] = 200
            #expect(throws: KeptFault.unknownFormat(200)) {
                try DecisionRecord(later, ofPurchase: 1)
            }
        }
    }

    /// Decided again at once under the rules of the decision, nothing comes of it.
    @Test func whatWasHeardComesToTheSameAgain() async throws {
        try await play { world, turn, _ in
            guard let kept = turn.outcome.kept, case .changed = turn.outcome.decision else {
                return
            }
            let claim = claim(turn, turn.outcome.facts)
            let again = redecide(claim, from: kept.heard, at: turn.now, under: world.rules)
            try demand(
                again == nil, "again it came to \(again?.facts as Any), \(again?.notices as Any)",
                turn)
        }
    }

    /// A part of an order that has run out is not given once more for want of a proof, however often
    /// all is decided again; what still runs goes on.
    @Test func aPartThatHasEndedStaysSo() throws {
        var stage = try Stage(Story(head: "sold together | new product=pass30"))
        let words = "active bought=2 kind=non_consumable product=pass30+skin"
        for (day, entitlements) in [("2", ["pro", "skin"]), ("32+1s", ["skin"])] {
            let (outcome, _) = try stage.hear(words, at: day)
            #expect(outcome.facts.holdings.map(\.entitlement.text) == entitlements)
            let kept = try #require(outcome.kept)
            let again = redecide(
                try standing(after: outcome), from: kept.heard, at: try TestCalendar.time("40"),
                under: outcome.rules)
            #expect(again == nil, "on \(day)")
        }
    }

    /// What was given back and runs out goes on to its end, however often all is decided again: a
    /// part of an order, and a product beside a subscription.
    @Test(arguments: [
        ("pass30", "active bought=2 order=1 product=pass30+pass60", ["extra", "pro"]),
        ("pro_month", "active 41 product=pro_month+gold_month ends=41", ["gold", "pro"]),
    ]) func aPartThatIsGivenBackRunsOut(
        _ product: String, _ both: String, _ entitlements: [String]
    ) throws {
        var stage = try Stage(
            Story(head: "in part | new product=\(product) | policy refund=period_end"))
        _ = try stage.hear(both, at: "2")
        let one = both.split(separator: "+")[0] + " part=refunded ends=41"
        let (outcome, _) = try stage.hear(String(one), at: "20")
        func given(_ outcome: Outcome) -> [String] {
            outcome.facts.holdings.map(\.entitlement.text).sorted()
        }
        #expect(given(outcome) == entitlements)
        let kept = try #require(outcome.kept)
        let claim = try standing(after: outcome)
        let now = try TestCalendar.time("21")
        #expect(redecide(claim, from: kept.heard, at: now, under: outcome.rules) == nil)
        var rules = outcome.rules
        rules.policy.refund = .immediate
        let again = try #require(redecide(claim, from: kept.heard, at: now, under: rules))
        #expect(given(again) == [entitlements[1]])
        guard case .changed(let change) = again.decision else {
            Issue.record("\(again.decision)")
            return
        }
        #expect(change.reasons.loss == .refunded)
    }

    /// What a table of products takes away is told as that, whatever was given back beside it.
    @Test(arguments: ["immediate", "period_end"])
    func whatTheTableTakesIsNoRefund(_ refund: String) throws {
        var stage = try Stage(Story(head: "in part | new | policy refund=\(refund)"))
        _ = try stage.hear("active 41 product=pro_month+gold_month ends=41", at: "2")
        let (outcome, _) = try stage.hear(
            "active 41 product=pro_month part=refunded ends=41", at: "20")
        let kept = try #require(outcome.kept)
        var rules = outcome.rules
        rules.catalog = Catalog(["pro_month": .init(kind: nil, entitlements: ["plus"])])
        let again = redecide(
            try standing(after: outcome), from: kept.heard, at: try TestCalendar.time("21"),
            under: rules)
        guard case .changed(let change)? = again?.decision else {
            Issue.record("\(again as Any)")
            return
        }
        #expect(change.facts.holdings.map(\.entitlement).contains("plus"))
        #expect(change.reasons.loss(of: "pro") == .productChanged)
    }

    /// What runs out by a rule of ours is over when the store's own time shows it. Nobody tells that
    /// time where nothing is asked: the next answer ends it.
    @Test(arguments: [
        ("leniency=1d", "ended 30", "30+1h"), ("refund=period_end", "refunded 10", "11"),
    ]) func ourClockEndsNothingThatIsDecidedAgain(
        _ words: String, _ heard: String, _ day: String
    ) throws {
        var stage = try Stage(Story(head: "until then | active 30 | policy \(words)"))
        let (outcome, _) = try stage.hear(heard, at: day)
        let kept = try #require(outcome.kept)
        #expect(outcome.facts.access == .granted)
        let claim = try standing(after: outcome)
        func again(_ rules: Rules) throws -> Outcome? {
            redecide(claim, from: kept.heard, at: try TestCalendar.time("40"), under: rules)
        }
        #expect(try again(outcome.rules) == nil)
        var catalog = outcome.rules
        catalog.catalog = Catalog(["pro_month": .init(kind: nil, entitlements: ["plus", "pro"])])
        #expect(try again(catalog)?.facts.holdings.map(\.entitlement) == ["plus", "pro"])
    }

    /// A shorter duration ends what is over by it, by our clock, unless that is known to be off.
    @Test(arguments: [(20, nil, false), (20, "clock: ahead", true), (31, nil, true)])
    func anEndThatMovesForwardCounts(
        _ days: Int, _ problem: String?, _ isGranted: Bool
    ) throws {
        var stage = try Stage(Story(head: "a pass | new product=pass30"))
        let (outcome, _) = try stage.hear(
            "active product=pass30 bought=2 kind=non_renewing", at: "3")
        #expect(outcome.facts.expiresAt == (try TestCalendar.time("32")))
        let claim = try standing(after: outcome, problem)
        let kept = try #require(outcome.kept)
        var rules = outcome.rules
        rules.catalog = Catalog([
            "pass30": .init(kind: .nonRenewing, duration: .days(days), entitlements: ["pro"])
        ])
        let again = try #require(
            redecide(claim, from: kept.heard, at: try TestCalendar.time("40"), under: rules))
        #expect((again.facts.access == .granted) == isGranted)
    }

    /// That no duration is configured is said as long as that is so.
    @Test(arguments: [nil, 30])
    func aMissingDurationIsToldAtOnce(_ days: Int?) throws {
        func catalog(_ days: Int?) -> Catalog {
            Catalog([
                "pass30": .init(
                    kind: .nonRenewing, duration: days.map { .days($0) }, entitlements: ["pro"])
            ])
        }
        var stage = try Stage(Story(head: "a pass | new product=pass30"))
        stage.rules.catalog = catalog(days == nil ? 30 : nil)
        let (outcome, _) = try stage.hear(
            "active product=pass30 bought=20 kind=non_renewing", at: "21")
        #expect((outcome.schedule.problem == nil) == (days == nil))
        let kept = try #require(outcome.kept)
        var rules = outcome.rules
        rules.catalog = catalog(days)
        let again = redecide(
            try standing(after: outcome, outcome.schedule.problem?.description), from: kept.heard,
            at: try TestCalendar.time("40"), under: rules)
        #expect(again?.schedule.problem?.code == (days == nil ? .unsupported : nil))
        #expect((again?.facts.expiresAt == nil) == (days == nil))
    }

    /// The purchase as a check has left it, on day 40.
    private func standing(after outcome: Outcome, _ problem: String? = nil) throws -> Claim {
        let known = outcome.claim.purchase
        return Claim(
            purchase: Purchase(
                id: known.id, userID: known.userID, app: known.app, token: known.token,
                createdAt: known.createdAt, facts: outcome.facts),
            shard: 0, lane: 0, dueAt: outcome.schedule.nextCheckAt, version: 2, attempts: 0,
            crashes: 0, checkedAt: nil, problem: problem,
            claimedAt: try TestCalendar.time("40"))
    }

    /// Apple's history is read once: that the next answer says nothing of it is no news.
    @Test func whatTheFirstAnswerAloneTellsIsNotKept() {
        func kept(_ usedIntroductory: Bool?, willRenew: Bool = true) -> [UInt8] {
            let end = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)
            let heard = Observation(
                environment: .production, status: .active, items: [], period: "1", paidThrough: end,
                expiresAt: end, willRenew: willRenew, usedIntroductory: usedIntroductory)
            return KeptObservation(heard).bytes
        }
        #expect(kept(false) == kept(nil))
        #expect(kept(nil) != kept(nil, willRenew: false))
    }

    private func claim(_ turn: RandomWorld.Turn, _ facts: Facts) -> Claim {
        let known = turn.claim.purchase
        let purchase = Purchase(
            id: known.id, userID: known.userID, app: known.app, token: known.token,
            createdAt: known.createdAt, facts: facts)
        var claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: turn.now, version: 2, attempts: 0,
            crashes: 0, checkedAt: turn.now, claimedAt: turn.now)
        claim.inVain = turn.outcome.schedule.inVain
        return claim
    }

    @Test func aPolicyIsReadAsItWasWritten() throws {
        var policy = Policy()
        policy.grace = .revoke
        policy.paymentPending = .revoke
        policy.leniency = .seconds(90)
        policy.sandbox = .ignore
        policy.refund = .periodEnd
        policy.shared = .allow
        policy.keepsOffers = false
        policy.confirmAfter = .hours(7)
        policy.successorWait = .milliseconds(1500)
        policy.maxStaleness = .days(45)
        policy.breaker.isOn = false
        policy.breaker.floor = 7
        policy.breaker.window = .minutes(3)
        policy.breaker.factor = 2.75
        policy.breaker.share = 0.1
        policy.breaker.release = .confirmed
        let words = policy.words
        #expect(Policy(words: words) == policy)
        let usual = Policy().words
        #expect(zip(words, usual).allSatisfy { $0.value != $1.value }, "each is another")
        #expect(Policy(words: []) == Policy())
        #expect(Policy(words: [(name: "mood", value: "good")]) == nil)
        #expect(Policy(words: [(name: "grace", value: "sometimes")]) == nil)
    }

    /// Words are kept by their places: a new one comes last, and none is taken away.
    @Test func wordsStayInTheirPlaces() {
        #expect(Store.allCases.map(\.rawValue) == ["apple", "google", "amazon"])
        #expect(
            PurchaseState.allCases.map(\.rawValue).joined(separator: " ")
                == "new pending active grace hold paused expired refunded revoked superseded invalid"
        )
        #expect(Access.allCases.map(\.rawValue) == ["granted", "none", "held"])
        #expect(
            Signal.allCases.map(\.rawValue).joined(separator: " ") == """
                pause_scheduled price_increase_pending product_change_scheduled unacknowledged \
                shared_receipt environment_changed token_ending refund_of_past_period
                """)
        #expect(
            GrantReason.allCases.map(\.rawValue).joined(separator: " ") == """
                purchased resubscribed recovered resumed refund_reversed transferred manual \
                product_changed restored
                """)
        #expect(
            RevokeReason.allCases.map(\.rawValue).joined(separator: " ") == """
                expired cancelled payment_failed payment_pending refunded family_removed paused \
                price_increase_declined product_unavailable product_changed transferred manual \
                invalid unverifiable
                """)
        #expect(
            Doubt.allCases.map(\.rawValue).joined(separator: " ")
                == "not_found gone no_longer_valid unproven rejected replaced voided")
    }
}
