import Renewal
import Testing

/// What `renewald plan` says of a fleet.
@Suite struct ForecastTests {
    private static func terms(_ store: Store, _ rate: Double = 40) -> ForecastTerms {
        ForecastTerms(
            store, callsPerSecond: rate, usableCallsPerSecond: rate * 0.98, poll: .seconds(1))
    }

    private static func forecast(
        _ store: Store, _ count: Int, _ change: (inout ForecastTerms) -> Void = { _ in }
    ) -> Forecast {
        var terms = terms(store)
        change(&terms)
        return Forecast(of: FleetOutline(subscriptions: count), under: terms, lives: 300)
    }

    @Test(arguments: Store.allCases)
    func neverPromisesMoreThanTheQuota(_ store: Store) {
        var before = 0.0
        for count in [0, 1, 1000, 1_000_000, 100_000_000, 1_000_000_000_000] {
            let forecast = Self.forecast(store, count)
            #expect(forecast.purchases == count)
            #expect(forecast.callsPerDay <= forecast.quotaPerDay)
            #expect(forecast.quotaShare >= before)
            #expect(forecast.sweep >= .seconds(Double(count) / 40))
            let isTooMuch = forecast.quotaShare > 1
            #expect((forecast.delay > .zero) == isTooMuch, "\(count)")
            before = forecast.quotaShare
        }
        #expect(before > 1)
    }

    @Test func hasNothingToSayOfNothing() {
        let forecast = Self.forecast(.apple, 0)
        #expect(forecast.wantedPerDay == 0 && forecast.lags.isEmpty)
        #expect(forecast.sweep == .zero && forecast.backfill == .zero)
    }

    /// A month of a subscription that nothing happens to: a look a week, and one at its end.
    @Test func countsTheSweepsAndTheEnds() throws {
        var quiet = Habits()
        quiet.failing = .init(percent: 0)
        quiet.leaving = .init(percent: 0)
        var fleet = FleetOutline()
        for day in 0..<30 {
            fleet.add(
                .init(
                    .active, count: 100, due: .zero..<min(.days(day + 1), .days(7)),
                    end: .days(day)..<(.days(day + 1)), age: .days(90)))
        }
        let forecast = Forecast(of: fleet, under: Self.terms(.google), habits: quiet, lives: 600)
        let ends = try #require(forecast.wanted[.expiry])
        #expect(abs(ends - 100) < 3)
        let sweeps = try #require(forecast.wanted[.sweep])
        #expect(abs(sweeps - 400) < 30)
        #expect(forecast.wanted[.paymentTrouble] == nil)
    }

    @Test(arguments: Store.allCases)
    func keepsTheBudgetsOfTheDesign(_ store: Store) throws {
        let forecast = Self.forecast(store, 100_000) { terms in
            terms.newsOfRefunds = store == .amazon ? nil : .minutes(1)
        }
        let expiry = try #require(forecast.lags[.expiry])
        let refund = try #require(forecast.lags[.refund])
        #expect(expiry.p99 <= .seconds(60))
        #expect(refund.p99 <= (store == .amazon ? .hours(72) : .minutes(2)))
        #expect(refund.worst >= refund.p99 && refund.worst <= .days(8))
    }

    @Test func spareCallsMakeRefundsKnownSooner() throws {
        let none = Self.forecast(.google, 100_000)
        let half = Self.forecast(.google, 100_000) { $0.sweepShare = 0.5 }
        let some = Self.forecast(.google, 100_000) { $0.sweepShare = 0.05 }
        #expect(none.spare == nil)
        // Two calls a second for 100,000 purchases of weight 2, but for a few.
        let walk = try #require(some.spare).interval
        #expect(walk > .minutes(350) && walk < .minutes(430), "\(walk)")
        #expect(try #require(half.spare).interval == .hours(1))
        let (late, sooner, soonest) = (
            try #require(none.lags[.refund]), try #require(some.lags[.refund]),
            try #require(half.lags[.refund])
        )
        #expect(late.worst > .days(6))
        #expect(soonest.p99 < sooner.p99 && sooner.p99 < late.p99 / 2)
        #expect(soonest.p99 < .hours(5))
        // What is due is asked about all the same.
        #expect(half.wanted == none.wanted && half.callsPerDay == none.callsPerDay)
    }

    @Test func spareCallsMakeRecoveriesKnownSooner() throws {
        let none = Self.forecast(.google, 100_000)
        let half = Self.forecast(.google, 100_000) { $0.sweepShare = 0.5 }
        let (late, soon) = (
            try #require(none.lags[.recovery]), try #require(half.lags[.recovery])
        )
        #expect(late.p99 > .hours(8))
        #expect(soon.p99 < .minutes(80))
    }

    @Test func aFleetThatNeedsAllCallsHasNoneToSpare() {
        let crowd = Self.forecast(.google, 100_000_000) { $0.sweepShare = 0.5 }
        #expect(crowd.quotaShare > 1 && crowd.spare == nil)
        let nobody = Self.forecast(.google, 0) { $0.sweepShare = 0.5 }
        #expect(nobody.spare == nil)
        let slow = Forecast(
            of: FleetOutline(subscriptions: 1),
            under: ForecastTerms(
                .google, callsPerSecond: 1e-300, usableCallsPerSecond: 1e-300, poll: .seconds(1)))
        #expect(slow.spare == nil)
    }

    @Test func newsMakesTroubleKnownSooner() throws {
        let silent = Self.forecast(.google, 100_000)
        let told = Self.forecast(.google, 100_000) { $0.newsOfAll = .seconds(10) }
        let (late, soon) = (
            try #require(silent.lags[.recovery]), try #require(told.lags[.recovery])
        )
        #expect(late.p99 > .hours(1) && soon.p99 < .minutes(1))
        #expect(silent.wanted[.news] == nil)
        #expect(try #require(told.wanted[.news]) > 1000)
    }

    @Test func aPolicyOfLeniencyIsSlowerToRevoke() throws {
        let usual = try #require(Self.forecast(.google, 10_000).lags[.expiry])
        let lenient = try #require(
            Self.forecast(.google, 10_000) { $0.rules.policy.leniency = .days(2) }.lags[.expiry])
        #expect(usual.p99 < .minutes(1))
        #expect(lenient.p99 > .days(2) && lenient.p99 < .days(3))
    }

    /// Each waits so long that as many are asked about as may be.
    @Test func whatIsTooMuchWaits() throws {
        let all = 30_000_000
        let forecast = Self.forecast(.google, all)
        #expect(forecast.callsPerDay == forecast.quotaPerDay)
        let round = Double(all) / (40 * 0.98)
        #expect(forecast.delay < .seconds(round) && forecast.delay > .seconds(round / 4))
        #expect(try #require(forecast.lags[.expiry]).p99 > forecast.delay)
    }

    @Test func whatWaitsIsLikeTheRest() throws {
        var fleet = FleetOutline(subscriptions: 1000)
        let alone = Forecast(of: fleet, under: Self.terms(.google), lives: 300)
        fleet.waiting = 1000
        let both = Forecast(of: fleet, under: Self.terms(.google), lives: 300)
        #expect(both.purchases == 2000 && both.waiting == 1000)
        #expect(abs(both.wantedPerDay / alone.wantedPerDay - 2) < 0.1)
        #expect(try #require(both.backfill) >= .seconds(25))
        let overloaded = Forecast(of: fleet, under: Self.terms(.google, 0.002), lives: 300)
        #expect(overloaded.backfill == nil)
        let grown = fleet.grown(by: 500)
        #expect(grown.purchases == 2500 && grown.waiting == 1000)
    }

    /// A pass of a month and an unlock for ever: a look a week, and nothing after the end.
    @Test func whatIsSoldOnceIsOverAtItsEnd() throws {
        var fleet = FleetOutline()
        fleet.add(
            .init(
                .active, kind: .nonRenewing, renews: true, count: 100, due: .zero..<(.days(2)),
                end: .days(2)..<(.days(3)), age: .days(60)))
        fleet.add(
            .init(
                .active, kind: .nonConsumable, renews: true, count: 100, due: .zero..<(.days(7)),
                end: nil, age: .days(60)))
        let forecast = Forecast(of: fleet, under: Self.terms(.google), lives: 200)
        #expect(abs(try #require(forecast.wanted[.expiry]) - 100 / 28) < 1)
        #expect(forecast.wantedPerDay < 100)
    }

    @Test func readsHabitsOffAFleet() {
        var fleet = FleetOutline()
        for day in 0..<365 {
            let monthly = day < 30 ? 1000 : 0
            let group = FleetOutline.Group(
                .active, count: monthly + 10, due: .zero..<(.days(7)),
                end: .days(day)..<(.days(day + 1)), age: .days(40))
            fleet.add(group)
        }
        for day in 0..<7 {
            fleet.add(
                .init(
                    .expired, count: day == 3 ? 9000 : 10, due: nil, end: nil,
                    age: .days(day) + .hours(12)))
        }
        let habits = Habits(of: fleet)
        let weights = habits.periods.filter { $0.weight > 0 }
        #expect(weights.map(\.length) == [.days(30), .days(365)])
        #expect(weights[0].weight / weights[1].weight > 6)
        // Many of one day: that was an import.
        #expect(habits.arrivalsPerDay == 10)
        #expect(habits.failing.percent == 0 && habits.leaving.percent == 0)
    }
}
