import Renewal
import TestSupport
import Testing

/// What the breaker makes of the days of a fleet, with the defaults: of 100 purchases, of 10
/// thousand and of 10 million.
@Suite struct AvalancheTests {
    static let sizes = [100, 10_000, 10_000_000]

    /// A fleet and its last hour. Times are hours of the fleet's own.
    private struct Fleet {
        let size: Int
        /// Days since the app is counted.
        var age = 365
        /// Early revocations of a usual hour.
        var usual: Double { Double(size) * 0.001 / 24 }

        /// One hour in which so many lose access before their end, and of so many ends that were
        /// to renew the first lapse: whoever lapses may be asked about first.
        func hour(early: Int, ends: Int = 0, lapsing: Int = 0, expected: Int = 0) -> Hour {
            var count = BreakerCount()
            let countedDays = min(age, 28)
            count.countedFor = .days(countedDays)
            count.past = Int(usual * 24 * Double(countedDays))
            count.inForce = size
            let end = TestCalendar.start.minute
            count.allEnds = [end: ends]
            var breaker = RevocationBreaker(BreakerPolicy(), count, at: end)
            var hour = Hour()
            for _ in 0..<early { hour.note(breaker.admits(.early)) }
            for _ in 0..<lapsing { hour.note(breaker.admits(.atItsEnd(end))) }
            for _ in 0..<expected { hour.note(breaker.admits(.expected)) }
            return hour
        }

        /// A share of the fleet, rounded up.
        func part(_ share: Double) -> Int { Int((Double(size) * share).rounded(.up)) }
    }

    private struct Hour: Equatable {
        var revoked = 0
        var held = 0

        mutating func note(_ isAdmitted: Bool) {
            if isAdmitted { revoked += 1 } else { held += 1 }
        }
    }

    // MARK: What must go on

    /// Refunds and the like: three times the usual in an hour.
    @Test(arguments: sizes) func aBusyDay(size: Int) {
        let fleet = Fleet(size: size)
        #expect(fleet.hour(early: Int(fleet.usual * 3)).held == 0)
    }

    /// The same before there is a usual: in the fleet's first hour, and after two weeks.
    @Test(arguments: sizes, [0, 1, 14, 27]) func aBusyDayOfAYoungFleet(size: Int, age: Int) {
        let fleet = Fleet(size: size, age: age)
        #expect(fleet.hour(early: Int(fleet.usual * 3)).held == 0)
    }

    /// One in ten of the fleet ends in an hour: half of them lapse though they were to renew, and
    /// as many run out that had been cancelled.
    @Test(arguments: [100, 10_000, 100_000]) func aMonthsEnd(size: Int) {
        let fleet = Fleet(size: size)
        let ends = fleet.part(0.1)
        #expect(
            fleet.hour(early: Int(fleet.usual), ends: ends, lapsing: ends / 2, expected: ends).held
                == 0)
    }

    /// The years end that were sold a year ago, at one midnight.
    @Test(arguments: [100, 10_000, 100_000]) func theLastDayOfTheYear(size: Int) {
        let fleet = Fleet(size: size)
        let ends = fleet.part(0.3)
        #expect(fleet.hour(early: 0, ends: ends, lapsing: ends * 2 / 5, expected: ends).held == 0)
    }

    /// Who declines a price increase is to renew for all that the store has said before.
    @Test(arguments: [100, 10_000, 100_000]) func threeInAHundredDeclineAPriceIncrease(size: Int) {
        let fleet = Fleet(size: size)
        #expect(fleet.hour(early: 0, ends: size, lapsing: fleet.part(0.03)).held == 0)
    }

    // MARK: What must not

    /// The store ends everybody before their end.
    @Test(arguments: [(100, 20), (10_000, 20), (10_000_000, 2083)])
    func everybodyBeforeTheirEnd(size: Int, limit: Int) {
        let fleet = Fleet(size: size)
        let hour = fleet.hour(early: min(size, 50_000))
        #expect(hour.revoked == limit)
        #expect(hour.held == min(size, 50_000) - limit)
    }

    /// The first hours of a fleet are no excuse.
    @Test(arguments: [(100, 20), (10_000, 20), (10_000_000, 20_833)])
    func everybodyOnTheFirstDay(size: Int, limit: Int) {
        #expect(Fleet(size: size, age: 0).hour(early: min(size, 50_000)).revoked == limit)
    }

    @Test(arguments: [100, 10_000]) func everybodyAtTheirEnd(size: Int) {
        let hour = Fleet(size: size).hour(early: 0, ends: size, lapsing: size)
        #expect(hour.revoked == size / 2)
        #expect(hour.held == size - size / 2)
    }

    // MARK: What an answer comes to

    /// What is lost by an answer: each cell is what is known, what is heard on a day, and how the
    /// loss counts; `-` is none.
    static let losses = [
        // The store's clear word before the end, true or not.
        ("active 30", "refunded 10", "10", "early"), ("active 30", "ended 10", "10", "early"),
        ("active 30", "cancelled 10", "10", "early"), ("active 30", "hold", "10", "early"),
        ("active product=lifetime", "refunded 10", "10", "early"),
        // At the end: of what was to renew, and of what was not.
        ("active 30", "ended 30", "30+1m", "end 30"), ("active 30", "hold", "30+1m", "end 30"),
        ("active 30", "price_declined 30", "30+1m", "end 30"),
        ("grace 30 until=37", "unpaid 37", "37+1m", "end 37"),
        ("active 30 off", "cancelled 30", "30+1m", "expected"),
        ("active 30 product=pass30", "ended 30", "30+1m", "expected"),
        // Beside what goes on: of what leaves it as announced nobody expected a renewal.
        ("active 30 addon=gold_month ends=30", "active 60 part=cancelled", "30+1m", "end 30"),
        (
            "active 30 addon=gold_month ends=30 signals=product_change_scheduled",
            "active 60 part=cancelled", "30+1m", "expected"
        ),
        // By the policy's leniency it went on, after the store had shown that it was over.
        (
            "active 30 addon=gold_month ends=9 checked=10", "active 30 part=expired", "20",
            "expected"
        ),
        ("active 30 addon=gold_month ends=9 checked=8", "active 30 part=expired", "20", "end 9"),
        (
            "active 30 addon=gold_month ends=60 signals=product_change_scheduled",
            "active 60 part=refunded", "30+1m", "early"
        ),
        (
            "active 30 addon=gold_month ends=30 signals=product_change_scheduled", "ended 30",
            "30+1m", "end 30"
        ),
        // Silence that has lasted too long.
        ("active 30 vain=29 asked=58+23h", "unreachable", "59+1m", "end 30"),
        // Nothing is lost.
        ("active 30", "active 60", "30", "-"), ("expired 30", "refunded 10", "31", "-"),
        ("active 30", "mismatch", "10", "-"), ("active 30", "foreign", "10", "-"),
        ("active 30", "ended 10 sandbox", "10", "-"), ("active 30", "rejected", "10", "-"),
        ("active 30", "malformed", "10", "-"), ("active 30", "not_found", "10", "-"),
        // Nobody knows it any more, for the second time: a swapped bundle, say.
        ("active 30 doubt=not_found since=9", "not_found", "10", "early"),
    ]

    @Test(arguments: losses)
    func countsAs(known: String, heard: String, day: String, loss: String) throws {
        let now = try TestCalendar.time(day)
        #expect(try text(lost(known, heard, at: now, under: Rules(catalog: shop))) == loss)
    }

    /// A table of products from which an entitlement or a product has vanished.
    @Test(arguments: ["pro_month", "pass30", "lifetime"])
    func countsWhatAMistakenTableTakesAway(product: String) throws {
        let mistaken = Catalog([
            "pro_month": .init(kind: .autoRenewable, entitlements: []),
            "pass30": .init(kind: .nonRenewing, entitlements: ["por"]),
            "lifetime": .init(kind: .nonConsumable, entitlements: []),
        ])
        let end = product == "lifetime" ? "" : " 30"
        let loss = try lost(
            "active\(end) product=\(product)", "active\(end) product=\(product)",
            at: try TestCalendar.time("10"), under: Rules(catalog: mistaken))
        #expect(try text(loss) == "early")
    }

    /// A policy that leaves testers out is a configuration, and may be mistaken as well.
    @Test func countsWhatAMistakenPolicyTakesAway() throws {
        var policy = Policy()
        policy.sandbox = .ignore
        let loss = try lost(
            "active 30 sandbox", "active 30 sandbox", at: try TestCalendar.time("10"),
            under: Rules(policy: policy, catalog: shop))
        #expect(try text(loss) == "early")
    }

    private func lost(
        _ known: String, _ heard: String, at now: Timestamp, under rules: Rules
    ) throws -> Loss? {
        let words = KnownWords(known)
        let purchase = try words.purchase(id: 1)
        var claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: now, version: 1, attempts: 0, crashes: 0,
            checkedAt: try words.checkedAt(), claimedAt: now)
        claim.inVain = try words.inVain()
        let answer = try HeardWords(heard, about: purchase.facts).answer()
        return decide(claim, hearing: answer, at: Moment(now: now, jitter: 0.5), under: rules)
            .loss(at: now)
    }

    private func text(_ loss: Loss?) throws -> String {
        switch loss {
        case nil: "-"
        case .early: "early"
        case .expected: "expected"
        case .atItsEnd(let end): "end " + TestCalendar.text(end)
        }
    }
}
