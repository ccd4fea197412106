import Renewal
import TestSupport
import Testing

/// What is held tells nothing and takes nothing away, whatever is heard next (design rule 13).
@Suite struct HoldingTests {
    /// Every story of the decision table, with a breaker that has tripped before it begins.
    @Test(arguments: DecisionTable.stories)
    func nothingLeaks(_ story: Story) throws {
        var stage = try Stage(story, isTripped: true)
        for step in story.steps {
            let held = stage.book.purchases.values.map(\.purchase).filter {
                $0.facts.access == .held
            }
            let before = active(stage.book)
            let (outcome, settlements) = try stage.hear(step.heard, at: step.time)
            let at = "\(story.title), at \(step.time): \(step.heard)"
            #expect(Set(given(stage.book)) == active(stage.book), "\(at)")
            guard held.contains(where: { $0.id == outcome.claim.purchase.id }) else { continue }
            if case .handed = outcome.decision { continue }
            #expect(active(stage.book).isSuperset(of: before), "\(at)")
            let facts = outcome.facts
            #expect((facts.access == .held) == (facts.heldSince != nil), "\(at)")
            guard facts.access == .held else { continue }
            let lost = settlements.events.filter { event in
                if case .revoke = event.kind { true } else { false }
            }
            #expect(lost.isEmpty, "\(at)")
            #expect(outcome.schedule.nextCheckAt < outcome.claim.claimedAt + .days(2), "\(at)")
        }
    }

    /// A purchase whose revocation is held: by the store's word before its end.
    private func heldStage(_ policy: String = "") throws -> Stage {
        let story = Story(head: "held | active 30" + policy)
        var stage = try Stage(story, isTripped: true)
        let (outcome, settlements) = try stage.hear("refunded 10", at: "10")
        #expect(outcome.facts.access == .held && settlements.events.isEmpty)
        return stage
    }

    @Test func comesBackWithoutAWord() throws {
        var stage = try heldStage()
        let (outcome, settlements) = try stage.hear("active 30", at: "10+1h")
        #expect(settlements.events.isEmpty)
        #expect(outcome.facts.access == .granted && outcome.facts.heldSince == nil)
    }

    /// Half a day later the same is heard again: since when it is held stays.
    @Test func isHeldOnWithoutAChange() throws {
        var stage = try heldStage()
        let (outcome, settlements) = try stage.hear("refunded 10", at: "10+12h")
        #expect(settlements.events.isEmpty)
        #expect(outcome.decision == .unchanged)
        #expect(outcome.rule.hasSuffix("decided to revoke as refunded, and the breaker holds it"))
    }

    /// A day later the second answer lets go, where it takes the same away: what comes for another
    /// reason begins to be held.
    @Test(arguments: [("refunded 10", "ended 11"), ("refunded 10", "refunded 10")])
    func aSecondAnswerLetsGoWhatItAgreesOn(first: String, second: String) throws {
        var stage = try heldStage(" | policy release=confirmed")
        _ = try stage.hear(first, at: "10+12h")
        let (outcome, _) = try stage.hear(second, at: "11+1h")
        let isSame = first == second
        #expect(outcome.facts.access == (isSame ? .none : .held))
        #expect(outcome.facts.heldSince == (isSame ? nil : try TestCalendar.time("11+1h")))
        guard !isSame else { return }
        #expect(try stage.hear(second, at: "12").0.facts.access == .held)
        #expect(try stage.hear(second, at: "12+2h").0.facts.access == .none)
    }

    /// What goes for several reasons is held on and let go like anything else.
    @Test func whatGoesForSeveralReasonsIsHeldSinceTheFirst() throws {
        let story = Story(
            head: "held | active 10 addon=gold_month ends=10 | policy release=confirmed")
        var stage = try Stage(story, isTripped: true)
        let told = "refunded 11 product=pro_month"
        let (first, _) = try stage.hear(told, at: "11")
        #expect(Set(first.change?.heldLosses.values.map(\.rawValue) ?? []).count == 2)
        let since = first.facts.heldSince
        let (again, _) = try stage.hear(told, at: "11+12h")
        #expect(since != nil && again.facts.heldSince == since)
        let (last, _) = try stage.hear(told, at: "12+3h")
        #expect(last.facts.access == .none)
    }

    /// No answer and a first doubt neither drop a hold nor let it go.
    @Test(arguments: ["unreachable", "malformed", "not_found", "rejected", "mismatch", "foreign"])
    func staysHeldWhereNothingIsSaid(heard: String) throws {
        var stage = try heldStage()
        let (outcome, settlements) = try stage.hear(heard, at: "11")
        #expect(outcome.facts.access == .held)
        #expect(settlements.events.allSatisfy { $0.kind == .notice(.environmentChanged) })
    }

    /// That another has handed it in as well, and may have it too, lets no revocation through.
    @Test func whatIsSharedIsHeld() throws {
        let story = Story(head: "shared | active 30 claimed | policy shared=allow")
        var stage = try Stage(story, isTripped: true)
        for time in ["10", "10+12h"] {
            let (outcome, settlements) = try stage.hear("refunded 10", at: time)
            #expect(outcome.facts.access == .held && !outcome.isShared)
            #expect(settlements.events.isEmpty)
            #expect(active(stage.book) == ["pro"])
        }
    }

    /// A part of it is its owner's to lose under the breaker as well.
    @Test func aPartOfWhatIsSharedIsHeld() throws {
        let story = Story(
            head: "shared | active 30 addon=gold_month ends=30 claimed | policy shared=allow")
        var stage = try Stage(story, isTripped: true)
        for time in ["10", "10+12h"] {
            let (outcome, settlements) = try stage.hear("active 30 part=cancelled", at: time)
            #expect(outcome.facts.access == .held && !outcome.isShared)
            #expect(settlements.events.isEmpty)
            #expect(active(stage.book) == ["pro", "gold"])
        }
    }

    /// Held, and claimed only then: it stays held.
    @Test func whatIsHeldAndThenSharedStaysHeld() throws {
        let known = try heldStage().purchase(1)
        var purchase = Purchase(
            id: known.id, userID: known.userID, app: known.app, token: known.token,
            createdAt: known.createdAt, isClaimedByOthers: true, claimant: "bob",
            facts: known.facts)
        purchase.claimants = ["bob"]
        let now = try TestCalendar.time("10+12h")
        let claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: now, version: 1, attempts: 0, crashes: 0,
            checkedAt: nil, claimedAt: now)
        let answer = try HeardWords("refunded 10", about: purchase.facts).answer()
        var policy = Policy()
        policy.shared = .allow
        let outcome = decide(
            claim, hearing: answer, at: Moment(now: now, jitter: 0.5, storeNow: now),
            under: Rules(policy: policy, catalog: shop, longestWait: .days(30)))
        #expect(outcome.facts.access == .held && !outcome.isShared)
    }

    private func given(_ book: UserPurchases) -> [EntitlementID] {
        book.purchases.values.map(\.purchase.facts).filter { $0.access != .none }
            .flatMap(\.holdings).map(\.entitlement)
    }

    private func active(_ book: UserPurchases) -> Set<EntitlementID> {
        Set(book.entitlements.values.filter(\.active).map(\.entitlement))
    }
}
