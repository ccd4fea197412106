import Renewal
import TestSupport
import Testing

/// What an event says beside its reason.
@Suite struct EventTests {
    @Test func marksAFalseRenewal() throws {
        var stage = try Stage(Story(head: "false renewal | active 30"))
        let (_, settlement) = try stage.hear("grace 31", at: "30")
        #expect(settlement.events.map(\.detail.falseRenewal) == [true])
    }

    @Test func marksAGraceThatTheStoreNames() throws {
        var stage = try Stage(Story(head: "grace | active 30"))
        let (_, settlement) = try stage.hear("grace 31 own", at: "30")
        #expect(settlement.events.map(\.detail.falseRenewal) == [false])
    }

    @Test func keepsWhatWasPaidThroughAFalseRenewal() throws {
        var stage = try Stage(Story(head: "false renewal | active 30"))
        for day in 30..<34 { _ = try stage.hear("grace \(day + 1)", at: "\(day)") }
        let facts = try stage.purchase(1).facts
        #expect(facts.paidThrough == (try TestCalendar.time("30")))
        #expect(facts.expiresAt == (try TestCalendar.time("34")))
        #expect(stage.book.entitlements["pro"]?.inGrace == true)
    }

    /// Google's end moves on unpaid, then renewal is turned off: nothing was paid by that.
    @Test func keepsWhatWasPaidWhenRenewalIsTurnedOffInGrace() throws {
        var stage = try Stage(Story(head: "off in grace | active 30"))
        _ = try stage.hear("grace 31", at: "30")
        _ = try stage.hear("active 31 off period=p30", at: "30+1h")
        let facts = try stage.purchase(1).facts
        #expect(facts.state == .grace)
        #expect(facts.paidThrough == (try TestCalendar.time("30")))
        #expect(facts.expiresAt == (try TestCalendar.time("31")))
    }

    /// Each order once, also when a refund was told of before.
    @Test func tellsEachRefundOfAPastPeriod() throws {
        let stage = try Stage(Story(head: "two refunds | active 60"))
        let now = try TestCalendar.time("40")
        let purchase = try stage.purchase(1)
        var facts = purchase.facts
        for orders in [["b", "a"], ["c"], []] as [Set<OrderID>] {
            var answer = try HeardWords("active 60", about: facts).answer()
            if case .verdict(var observation) = answer {
                observation.pastRefunds = orders
                observation.settledClues = orders.isEmpty ? [] : [.pause(news: "1")]
                if !orders.isEmpty { observation.signals.insert(.pastPeriodRefunded) }
                answer = .verdict(observation)
            }
            let known = Purchase(
                id: 1, userID: purchase.userID, app: purchase.app, token: purchase.token,
                createdAt: purchase.createdAt, facts: facts)
            let claim = Claim(
                purchase: known, shard: 0, lane: 0, dueAt: now, version: 1, attempts: 0,
                crashes: 0, checkedAt: nil, claimedAt: now)
            let outcome = decide(
                claim, hearing: answer, at: Moment(now: now, jitter: 0.5),
                under: Rules(catalog: shop))
            #expect(outcome.notices.map(\.reason) == orders.map { _ in .refundOfPastPeriod })
            #expect(outcome.notices.map(\.detail.refundedOrder) == orders.sorted())
            let clues = orders.map(Clue.refund(of:)) + (orders.isEmpty ? [] : [.pause(news: "1")])
            #expect(outcome.schedule.settledClues == Set(clues))
            facts = outcome.facts
        }
    }

    /// Why it was refunded is kept as long as the refund is looked for, and told with it.
    @Test(
        arguments: [
            ([], [], false), (["a"], [], true), (["a"], ["a"], false), (["b"], [], false),
        ] as [(Set<OrderID>, Set<OrderID>, Bool)])
    func keepsWhyAnOrderWasRefunded(
        _ heard: Set<OrderID>, _ shown: Set<OrderID>, _ isKept: Bool
    ) throws {
        let stage = try Stage(Story(head: "a refund | active 60"))
        let (now, known) = (try TestCalendar.time("40"), try stage.purchase(1))
        let why = Clue.void(of: "a", source: "user", reason: "remorse")
        var purchase = known
        purchase.clues = Set(heard.map(Clue.refund(of:))).union([why])
        purchase.cluesHeardAt = Dictionary(uniqueKeysWithValues: purchase.clues.map { ($0, now) })
        let answer = try HeardWords("active 60", about: known.facts).answer()
        guard case .verdict(var observation) = answer else { return }
        observation.pastRefunds = shown
        let claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: now, version: 1, attempts: 0, crashes: 0,
            checkedAt: nil, claimedAt: now)
        let outcome = decide(
            claim, hearing: .verdict(observation), at: Moment(now: now, jitter: 0.5),
            under: Rules(catalog: shop))
        #expect(outcome.schedule.settledClues.contains(why) != isKept)
        #expect(outcome.notices.map(\.detail.refund?.reason) == shown.map { _ in "remorse" })
    }

    /// Google's refund of what nobody acknowledges protects who has not got what he bought.
    @Test(arguments: [("lifetime", true), ("coins", false)])
    func acknowledgesOnlyWhatWeGive(_ product: String, _ isToBe: Bool) throws {
        let stage = try Stage(Story(head: "bought | new product=\(product)"))
        let (now, purchase) = (try TestCalendar.time("1"), try stage.purchase(1))
        let answer = try HeardWords("active", about: purchase.facts).answer()
        guard case .verdict(var observation) = answer else { return }
        observation.awaitsAcknowledgement = true
        let claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: now, version: 1, attempts: 0, crashes: 0,
            checkedAt: nil, claimedAt: now)
        let outcome = decide(
            claim, hearing: .verdict(observation), at: Moment(now: now, jitter: 0.5),
            under: Rules(catalog: shop))
        #expect(outcome.schedule.awaitsAcknowledgement == isToBe)
    }

    @Test func namesTheProductBefore() throws {
        var stage = try Stage(Story(head: "upgrade | active 30"))
        let (_, settlement) = try stage.hear("active 40 product=gold_month", at: "10")
        #expect(settlement.events.map(\.detail.previousProduct) == ["pro_month", "pro_month"])
        #expect(settlement.events.map(\.product) == ["gold_month", "pro_month"])
    }

    @Test(arguments: [
        ("refunded 10", "10"), ("family_removed 11", "11"), ("cancelled 9", "9"),
    ])
    func datesARevokeByTheStore(_ heard: String, _ day: String) throws {
        var stage = try Stage(Story(head: "an end | active 30"))
        let (_, settlement) = try stage.hear(heard, at: "12")
        let end = try TestCalendar.time(day)
        #expect(settlement.events.map(\.effectiveAt) == [end])
        // Access has ended then, whatever had been paid.
        #expect(settlement.events.map(\.expiresAt) == [end])
        #expect(stage.book.entitlements["pro"]?.expiresAt == end)
    }

    /// Google and Amazon end what they refund at once; the policy may let it run out.
    @Test(arguments: ["refunded 25 ends=25", "ended 25"])
    func endsWhatIsRefundedWhereItWasPaidTo(_ later: String) throws {
        var stage = try Stage(Story(head: "refunded | active 30 | policy refund=period_end"))
        let (_, first) = try stage.hear("refunded 25 ends=25", at: "25")
        let end = try TestCalendar.time("30")
        #expect(first.events.map(\.expiresAt) == [end])
        #expect(stage.book.entitlements["pro"]?.expiresAt == end)
        let (_, last) = try stage.hear(later, at: "30+1m")
        #expect(last.events.map(\.kind) == [.revoke(.refunded)])
        #expect(last.events.map(\.effectiveAt) == [end])
        #expect(last.events.map(\.expiresAt) == [end])
        let (outcome, _) = try stage.hear("refunded 25 ends=25", at: "32")
        #expect(outcome.facts.expiresAt == end)
    }

    /// Two of one reason about one order would have one key, and the database would take neither.
    @Test(arguments: [
        ("active 30 | B active 60 product=pro_year", "B: refunded 10 in_part"),
        ("active 30 | policy refund=period_end", "refunded 10 in_part"),
        ("active 30 product=coins", "refunded 10 in_part"),
    ])
    func tellsOneRefundOnce(_ known: String, _ heard: String) throws {
        var stage = try Stage(Story(head: "a refund | \(known)"))
        let (_, settlement) = try stage.hear(heard, at: "10")
        #expect(settlement.events.map(\.kind) == [.notice(.refunded)])
        #expect(settlement.events.map(\.detail.refund?.part) == [RefundedPart()])
    }

    /// A pass has the end that its duration gives it, also where its store ends it at once.
    @Test func endsARefundedPassWhereItWouldHaveEnded() throws {
        var stage = try Stage(
            Story(head: "a pass | active product=pass30 until=30 | policy refund=period_end"))
        let end = try TestCalendar.time("30")
        let (_, first) = try stage.hear("refunded 10 bought=0 ends=10", at: "10")
        #expect(first.events.map(\.kind) == [.notice(.refunded)])
        #expect(first.events.map(\.expiresAt) == [end])
        #expect(stage.book.entitlements["pro"]?.expiresAt == end)
        #expect(try stage.purchase(1).facts.paidThrough == nil)
        let (_, last) = try stage.hear("refunded 10 bought=0 ends=10", at: "30+1m")
        #expect(last.events.map(\.kind) == [.revoke(.refunded)])
        #expect(last.events.map(\.effectiveAt) == [end])
        #expect(last.events.map(\.expiresAt) == [end])
        let (outcome, _) = try stage.hear("refunded 10 bought=0 ends=10", at: "32")
        #expect(outcome.facts.expiresAt == end)
    }

    /// What leaves a purchase that goes on has an end of its own, and left then.
    @Test(arguments: [
        ("active 30 addon=gold_month ends=20", "active 30 part=cancelled", "22", "20", "20"),
        ("active 30 addon=gold_month ends=20", "active 60", "32", "20", "20"),
        ("active 30 addon=gold_month ends=20", "active 30", "10", "10", "20"),
        ("active 30 product=pro_year", "active 40 product=gold_month", "10", "10", "30"),
        (
            "active 30 signals=product_change_scheduled", "active 60 product=gold_month", "30+1h",
            "30", "30"
        ),
        ("active 30 product=bundle", "B: active 40 product=gold_month after-A", "10", "10", "30"),
    ])
    func datesWhatIsLostByItself(
        _ known: String, _ heard: String, _ day: String, _ left: String, _ end: String
    ) throws {
        var stage = try Stage(Story(head: "a loss | \(known) | B new"))
        let settlements = try stage.hear(heard, at: day).1
        let lost = settlements.events.filter {
            if case .revoke = $0.kind { true } else { false }
        }
        #expect(lost.map(\.effectiveAt) == [try TestCalendar.time(left)])
        #expect(lost.map(\.expiresAt) == [try TestCalendar.time(end)])
    }

    /// What ended before the rest ended then, also where both have run out.
    @Test(arguments: ["expired", "cancelled"])
    func datesWhatEndedBeforeTheRest(reason: String) throws {
        var stage = try Stage(Story(head: "a loss | active 30 addon=gold_month ends=29"))
        let lost = try stage.hear("ended 30 part=gold_month:\(reason):29", at: "30+1h").1.events
        #expect(lost.map(\.entitlement) == ["gold", "pro"])
        let ends = try ["29", "30"].map(TestCalendar.time)
        #expect(lost.map(\.effectiveAt) == ends)
        #expect(lost.map(\.expiresAt) == ends)
    }

    @Test func saysThatAccessWillNotRenew() throws {
        var stage = try Stage(Story(head: "off | active 30"))
        #expect(stage.book.entitlements["pro"]?.willRenew == true)
        _ = try stage.hear("active 30 off", at: "10")
        #expect(stage.book.entitlements["pro"]?.willRenew == false)
    }

    @Test func isInGraceOnlyWhenAllThatHoldsItIs() throws {
        var stage = try Stage(Story(head: "two | active 30 | B active 60 product=pro_year"))
        _ = try stage.hear("grace 33", at: "30")
        #expect(stage.book.entitlements["pro"]?.inGrace == false)
        _ = try stage.hear("B: refunded 31", at: "31")
        #expect(stage.book.entitlements["pro"]?.inGrace == true)
    }

    @Test func supersedesThePredecessorInTheSameSettlement() throws {
        var stage = try Stage(Story(head: "a link | active 30 | B new"))
        let (_, settlement) = try stage.hear("B: active 40 after-A", at: "10")
        #expect(settlement.purchases.map(\.id) == [1, 2])
        #expect(settlement.purchases.map(\.facts.state) == [.superseded, .active])
        #expect(settlement.purchases.map(\.facts.access) == [.none, .granted])
    }

    @Test func stateAndReasonWordsAreUniqueInTheirKind() {
        #expect(Set(GrantReason.allCases.map(\.rawValue)).count == 9)
        #expect(Set(RevokeReason.allCases.map(\.rawValue)).count == 14)
        #expect(Set(NoticeReason.allCases.map(\.rawValue)).count == 20)
        #expect(EventKind.revoke(.paymentFailed).name == "revoke")
        #expect(EventKind.notice(.refundOfPastPeriod).reason == "refund_of_past_period")
    }

    @Test func looksUpTheBestNameFirst() {
        let catalog = Catalog([
            "term": .init(kind: .autoRenewable, entitlements: ["a"]),
            "parent": .init(kind: .autoRenewable, entitlements: ["b"]),
        ])
        #expect(catalog.entitlements(named: ["term", "parent"], kind: .autoRenewable) == ["a"])
        #expect(catalog.entitlements(named: ["other", "parent"], kind: .autoRenewable) == ["b"])
        #expect(catalog.entitlements(named: ["x", "y"], kind: .autoRenewable) == ["y"])
        #expect(catalog.entitlements(named: ["x", "y"], kind: .consumable).isEmpty)
    }
}
