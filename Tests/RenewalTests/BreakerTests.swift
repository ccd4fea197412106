import Renewal
import TestSupport
import Testing

/// When revocations are an avalanche (design rule 13).
@Suite struct RevocationBreakerTests {
    private static let now = TestCalendar.start

    /// How many of so many losses go through.
    private func admitted(_ losses: Int, _ loss: Loss, by breaker: RevocationBreaker) -> Int {
        var breaker = breaker
        return (0..<losses).count { _ in breaker.admits(loss) }
    }

    @Test(arguments: [
        // Let through in four weeks, in force, the limit of an hour.
        (0, 0, 20), (0, 10_000_000, 20), (672 * 3, 10_000_000, 20), (672 * 100, 10_000_000, 500),
        (672 * 100, 10_000, 200), (672 * 100, 500, 20),
        (.max, 10_000_000, 200_000), (.max, .max, 1_000_000_000_000_000),
    ])
    func theLimitIsTheFloorOrTheUsualWithinAShare(past: Int, inForce: Int, limit: Int) {
        let breaker = breaker(past: past, inForce: inForce)
        #expect(breaker.limit == limit)
        guard limit < 1000 else { return }
        #expect(admitted(limit + 5, .early, by: breaker) == limit)
    }

    /// What nobody has counted yet is taken for one in a hundred a day.
    @Test(arguments: [
        (100, 0, 20), (1000, 0, 20), (10_000, 0, 20), (100_000, 0, 208),
        (10_000_000, 0, 20_833), (10_000_000, 14, 10_416), (10_000_000, 28, 20),
        (10_000_000, -5, 20_833),
    ])
    func aYoungFleetHasAnAssumedUsual(inForce: Int, days: Int, limit: Int) {
        #expect(breaker(inForce: inForce, countedFor: .days(days)).limit == limit)
    }

    @Test func theUsualIsOfAWindow() {
        var policy = BreakerPolicy()
        policy.window = .days(7)
        #expect(breaker(policy, past: 400, inForce: 100_000).limit == 500)
    }

    @Test func theFirstBeyondTheLimitTripsIt() {
        var breaker = breaker(early: 19)
        let first = breaker.admits(.early)
        #expect(first && !breaker.hasTripped)
        let second = breaker.admits(.early)
        #expect(!second && breaker.exceeded == .early(20))
        // Everything is held from then on.
        let others = [Loss.expected, .atItsEnd(Self.now)].map { breaker.admits($0) }
        #expect(others == [false, false])
        #expect(breaker.added.early == 1)
        #expect(breaker.added.held == 2)
    }

    @Test func whatWasExpectedNeverTripsIt() {
        #expect(admitted(1000, .expected, by: breaker()) == 1000)
    }

    /// Ends are judged together with those of the hour before them, by their own time.
    @Test func halfOfTheEndsOfAnHourMayLapse() {
        let end = Self.now
        let survived = [
            end.minute: BreakerCount.Ends(known: 100, lapsed: 0),
            (end - .minutes(30)).minute: BreakerCount.Ends(known: 100, lapsed: 0),
            (end - .minutes(90)).minute: BreakerCount.Ends(known: 1000, lapsed: 0),
        ]
        #expect(admitted(300, .atItsEnd(end), by: breaker(ends: survived)) == 200)
        #expect(admitted(300, .atItsEnd(end), by: breaker()) == 20)
    }

    /// The half is of all that come to their end, in whatever order they are asked about.
    @Test func endsThatWereNotAskedAboutYetCount() {
        let end = Self.now.minute
        let half = breaker(allEnds: [end: 400, end - .minutes(59): 200, end - .minutes(60): 900])
        #expect(admitted(400, .atItsEnd(end), by: half) == 300)
        // An end that was asked about is not counted twice.
        let asked = breaker(
            ends: [end: BreakerCount.Ends(known: 60, lapsed: 10)], allEnds: [end: 100])
        #expect(admitted(100, .atItsEnd(end), by: asked) == 40)
    }

    @Test func aLapseTellsItsLimit() {
        var breaker = breaker(allEnds: [Self.now.minute: 60])
        while breaker.admits(.atItsEnd(Self.now)) {}
        #expect(breaker.exceeded == .lapsed(30))
        #expect(breaker.added.held == 1)
    }

    @Test func closesWhenAWindowHasPassedUnderTheLimit() {
        let long = Self.now - .hours(1)
        #expect(breaker(early: 3, held: 10, trip: long).isTripped == false)
        #expect(breaker(early: 3, held: 30, trip: long).isTripped)
        #expect(breaker(trip: Self.now - .minutes(59)).isTripped)
        // Another worker's clock is ahead, or the database's was set back since.
        #expect(breaker(trip: Self.now + .minutes(59)).isTripped)
        #expect(breaker(trip: Self.now + .hours(1)).isTripped == false)
        #expect(breaker(early: 3, held: 30, trip: Self.now + .days(9)).isTripped)
    }

    @Test func offLetsEverythingThrough() {
        var policy = BreakerPolicy()
        policy.isOn = false
        let tripped = breaker(policy, trip: Self.now)
        #expect(admitted(100, .early, by: tripped) == 100)
        #expect(!tripped.isTripped)
    }

    private func breaker(
        _ policy: BreakerPolicy = BreakerPolicy(), past: Int = 0, inForce: Int = 0,
        countedFor: Duration = BreakerPolicy.memory, early: Int = 0, held: Int = 0,
        trip: Timestamp? = nil, ends: [Timestamp: BreakerCount.Ends] = [:],
        allEnds: [Timestamp: Int] = [:]
    ) -> RevocationBreaker {
        var count = BreakerCount()
        (count.past, count.inForce, count.countedFor) = (past, inForce, countedFor)
        (count.early, count.held) = (early, held)
        count.trip = trip.map { BreakerCount.Trip(id: 7, at: $0) }
        (count.ends, count.allEnds) = (ends, allEnds)
        return RevocationBreaker(policy, count, at: Self.now)
    }
}
