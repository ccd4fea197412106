import Renewal
import Synchronization
import TestSupport
import Testing

@testable import Engine

/// `#expect` cannot call what mutates a value.
private final class Row {
    private var row: RateReservation

    init(interval: Duration) { row = RateReservation(interval: interval) }

    var margin: Duration { row.margin }

    func stretch(_ count: Int) -> Duration { row.stretch(count) }

    func slice(wanted: Int, interval: Duration) -> Int {
        row.slice(wanted: wanted, interval: interval)
    }

    /// Reserves with an answer that took so long to come.
    func reserve(
        _ count: Int, from start: ContinuousClock.Instant, tripOf trip: Duration = .zero
    ) {
        row.reserve(count, in: .zero, sent: start - trip, answered: start)
    }

    func take(at now: ContinuousClock.Instant) -> Bool { row.take(at: now) != nil }
    func wouldTake(at now: ContinuousClock.Instant) -> Bool { row.wouldTake(at: now) }
    func opensAt(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? { row.opensAt(now) }
}

@Suite struct PermitRowTests {
    private let start = ContinuousClock.now

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
        start + .milliseconds(milliseconds)
    }

    @Test func givesNothingBeforeAReservation() {
        let row = Row(interval: .milliseconds(20))
        #expect(!row.take(at: at(0)))
        #expect(row.opensAt(at(0)) == nil)
    }

    @Test func givesEachPlaceAtItsTimeAndNotBefore() {
        let row = Row(interval: .milliseconds(20))
        row.reserve(3, from: at(100))
        #expect(row.opensAt(at(0)) == at(100))
        #expect(!row.take(at: at(99)))
        #expect(row.wouldTake(at: at(100)))
        #expect(row.take(at: at(100)))
        // By 0.6 ms more than the rate asks for: 50 of them are the margin.
        #expect(!row.take(at: at(120)))
        #expect(row.take(at: at(121)))
        #expect(row.take(at: at(142)))
        #expect(!row.take(at: at(1000)))
        #expect(row.opensAt(at(1000)) == nil)
    }

    /// A place that is taken late leaves the less time for what comes between it and the call.
    @Test func aPlaceSaysUntilWhenItsCallMayStart() {
        var row = RateReservation(interval: .milliseconds(20))
        row.reserve(2, in: .milliseconds(100), sent: at(0), answered: at(0))
        let first = row.take(at: at(109))
        #expect(first == CallPlace(startsBy: at(115)))
        #expect(row.take(at: at(121))?.startsBy == at(115) + .microseconds(20_600))
    }

    /// In a row that no store allows nothing is too late, and nobody takes a second place.
    @Test func aPlaceMayBeUsedLateWhereTheMarginHasRoomForAllThatIsUnderWay() {
        for (interval, isAnyTime) in [(Duration.microseconds(25), true), (.milliseconds(1), false)]
        {
            var row = RateReservation(interval: interval)
            row.reserve(1, in: .zero, sent: start, answered: start)
            #expect((row.take(at: start) == .anyTime) == isAnyTime)
        }
    }

    @Test func aPlaceThatNobodyUsedInTimeIsLost() {
        let row = Row(interval: .milliseconds(5))
        row.reserve(50, from: at(0))
        // At 100 ms the places up to 85 ms are lost: three are left that are not too late.
        let taken = (0..<50).prefix { _ in row.take(at: at(100)) }.count
        #expect(taken == 3)
        row.reserve(5, from: at(1000))
        #expect(row.opensAt(at(9000)) == nil)
        #expect(!row.take(at: at(9000)))
    }

    @Test func anAnswerThatTakesLongerThanTheMarginGivesNoPlaceButALongerMargin() {
        let row = Row(interval: .milliseconds(20))
        #expect(row.stretch(5) == .milliseconds(103))
        row.reserve(5, from: at(0), tripOf: .milliseconds(30))
        #expect(!row.take(at: at(0)))
        #expect(row.margin == .milliseconds(80))
        #expect(row.stretch(5) == .milliseconds(153))
        row.reserve(1, from: at(1000), tripOf: .milliseconds(30))
        #expect(!row.wouldTake(at: at(1036)))
        #expect(row.take(at: at(1035)))
    }

    /// A thousand apps that want calls at once, a database that is busy: seconds go by before each
    /// answer, and still there are calls.
    @Test func howeverSlowTheAnswersAreThereAreCalls() {
        for trip in [1, 3, 10, 25] {
            let row = Row(interval: .milliseconds(25))
            for _ in 0..<2 { row.reserve(1, from: at(0), tripOf: .seconds(trip)) }
            #expect(row.take(at: at(0)), "answers after \(trip) s")
        }
    }

    /// Three workers that take from one row whenever they like, late as often as not, with answers
    /// that come at any time, and calls that are on their way for a while: no second has more than
    /// its own places.
    @Test func aRateOfFiftyNeverExceedsAnyWindow() async throws {
        try await Seeds.run { generator in
            let interval = Duration.milliseconds(20)
            let rows = (0..<3).map { _ in Row(interval: interval) }
            var now = start
            // The database's row.
            var freeAt = start
            var arrived: [ContinuousClock.Instant] = []
            for _ in 0..<40_000 {
                // Mostly busy, now and then stalled.
                let pause = Int.random(in: 0..<200, using: &generator)
                now += pause == 0 ? .milliseconds(700) : .microseconds(pause * 25)
                let row = rows[Int.random(in: 0..<3, using: &generator)]
                if row.opensAt(now) == nil {
                    let count = Int.random(in: 1...50, using: &generator)
                    // Asked a while ago, counted by the database somewhere in between.
                    let trip = Int.random(in: 0...8000, using: &generator)
                    let counted = now - .microseconds(Int.random(in: 0...trip, using: &generator))
                    let first = max(freeAt, counted)
                    freeAt = first + row.stretch(count)
                    row.reserve(
                        count, from: now + (first - counted), tripOf: .microseconds(trip))
                }
                guard row.take(at: now) else { continue }
                let transit = Int.random(in: 0...15_000, using: &generator)
                arrived.append(now + .microseconds(transit))
            }
            #expect(arrived.count > 1000)
            arrived.sort()
            for index in arrived.indices.dropFirst(50)
            where arrived[index] - arrived[index - 50] < .seconds(1) {
                Issue.record("51 calls within a second")
                break
            }
        }
    }

    @Test func shortStretchesTakeNoMoreOfTheRowThanLongOnes() {
        let row = Row(interval: .milliseconds(20))
        #expect(row.stretch(1) * 50 == row.stretch(50))
        #expect(row.stretch(50) == .milliseconds(1030))
        #expect(abs(RateReservation.usable(of: 50) - 50 / 1.03) < 0.001)
        // However few calls a second has room for, one more never comes too soon.
        #expect(abs(RateReservation.usable(of: 0.5) - 1 / 2.03) < 0.001)
    }

    @Test func reservesATenthOfASecondAtLeastAndAQuarterAtMost() {
        let cases: [(wanted: Int, rate: Int, count: Int)] = [
            (0, 50, 5), (3, 50, 5), (11, 50, 11), (900, 50, 12), (9, 10, 2), (1, 1, 1), (9, 1, 1),
        ]
        for (wanted, rate, count) in cases {
            let row = Row(interval: .seconds(1) / rate)
            #expect(row.slice(wanted: wanted, interval: .seconds(1) / rate) == count)
        }
        let slow = Row(interval: .seconds(10))
        #expect(slow.slice(wanted: 9, interval: .seconds(10)) == 1)
    }

    /// Else more time would go by until the next answer than the places take.
    @Test func reservesMoreAtOnceWithASlowDatabase() {
        let row = Row(interval: .milliseconds(20))
        row.reserve(1, from: at(0), tripOf: .milliseconds(50))
        #expect(row.slice(wanted: 900, interval: .milliseconds(20)) == 50)
    }
}

@Suite struct SlotsTests {
    @Test func oneLaneAloneMayHaveThemAll() {
        let slots = ConcurrencyLimit(limit: 10)
        slots.enter(1)
        #expect((0..<12).map { _ in slots.take(1) {} }.filter { $0 }.count == 10)
    }

    @Test func aFewStayFreeForEachOtherLane() {
        let slots = ConcurrencyLimit(limit: 10)
        slots.enter(1)
        slots.enter(2)
        #expect((0..<12).map { _ in slots.take(1) {} }.filter { $0 }.count == 6)
        #expect((0..<12).map { _ in slots.take(2) {} }.filter { $0 }.count == 4)
        #expect(!slots.take(1) {})
    }

    @Test func aFewSlotsAreSharedByManyLanes() {
        let slots = ConcurrencyLimit(limit: 2)
        for lane in 1...5 { slots.enter(Int32(lane)) }
        #expect(slots.take(1) {})
        #expect(slots.take(5) {})
        #expect(!slots.take(3) {})
        slots.give(1)
        #expect(slots.take(3) {})
    }

    @Test func whoFoundNoneIsCalledWhenOneIsFree() {
        let slots = ConcurrencyLimit(limit: 1)
        let calls = Atomic<Int>(0)
        slots.enter(1)
        slots.enter(2)
        #expect(slots.take(1) {})
        #expect(!slots.take(2) { calls.add(1, ordering: .relaxed) })
        slots.give(1)
        #expect(calls.load(ordering: .relaxed) == 1)
        #expect(slots.take(2) {})
        slots.give(2)
        #expect(calls.load(ordering: .relaxed) == 1)
    }
}

@Suite(.timeLimit(.minutes(2))) struct DoorbellTests {
    @Test func aRingWhileNobodyWaitsIsKept() async {
        let bell = AsyncEvent()
        bell.signal()
        #expect(await bell.wait(upTo: .seconds(3600)))
    }

    @Test func severalRingsAreOne() async {
        let bell = AsyncEvent()
        bell.signal()
        bell.signal()
        #expect(await bell.wait(upTo: .seconds(3600)))
        #expect(await !bell.wait(upTo: .milliseconds(20)))
    }

    @Test func aRingWakesWhoWaits() async {
        let bell = AsyncEvent()
        for _ in 0..<200 {
            async let waiting = bell.wait(upTo: .seconds(3600))
            bell.signal()
            #expect(await waiting)
        }
    }

    @Test func theWaitEndsWithItsTask() async {
        let bell = AsyncEvent()
        for _ in 0..<200 {
            let task = Task { await bell.wait(upTo: .seconds(3600)) }
            task.cancel()
            _ = await task.value
        }
    }

    @Test func noRingIsLostAsTheTimeIsOver() async {
        for _ in 0..<500 {
            let bell = AsyncEvent()
            async let first = bell.wait(upTo: .zero)
            bell.signal()
            if await first { continue }
            #expect(await bell.wait(upTo: .seconds(30)))
        }
    }

    @Test func theWaitEndsAtItsLimit() async {
        let bell = AsyncEvent()
        for _ in 0..<20 { await bell.wait(upTo: .milliseconds(1)) }
        await bell.wait(upTo: .zero)
    }
}
