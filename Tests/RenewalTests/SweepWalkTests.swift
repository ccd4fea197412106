import Testing

@testable import Renewal

/// A sweep over a fleet, on a clock of its own.
struct SweepWalkTests {
    /// A fleet of purchases in force that nothing happens to.
    private struct Fleet {
        struct One {
            var weight: Int
            var askedAt: Duration
            var gaps: [Duration] = []
        }

        var all: [One]
        var walk: SweepWalk
        let start = ContinuousClock.now
        var clock = Duration.zero
        var asked = 0
        let shardCount: Int

        static let epoch = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)
        static let bound = Duration.days(365)

        init(_ weights: [Int], shards: Int = 16) {
            all = weights.map { One(weight: $0, askedAt: .zero - .days(40)) }
            walk = SweepWalk(at: start)
            shardCount = shards
        }

        var shards: [Int16] { (0..<Int16(shardCount)).map(\.self) }

        private func row(_ index: Int, at now: Timestamp) -> SweepRow {
            let one = all[index]
            // By what a purchase of that weight is.
            let isYoung = one.weight == 1
            return SweepRow(
                Place(
                    shard: Int16(index % shardCount),
                    dueAt: Self.epoch + one.askedAt + Self.bound, id: Int64(index + 1)),
                checkedAt: Self.epoch + one.askedAt, state: one.weight > 4 ? .expired : .active,
                access: one.weight > 4 ? .none : .granted, kind: .autoRenewable,
                autoRenew: one.weight != 4, isFree: false,
                createdAt: now - .days(isYoung ? 1 : 100),
                end: now - .days(one.weight == 8 ? 1 : 100), isTroubled: false)
        }

        mutating func live(for duration: Duration, calls: Double, every step: Duration) {
            let end = clock + duration
            while clock < end {
                clock += step
                let now = Self.epoch + clock
                guard
                    let next = walk.next(spending: calls, in: shards, at: start + clock)
                else { continue }
                var rows: [SweepRow] = []
                let byShard = Dictionary(grouping: all.indices, by: { Int16($0 % shardCount) })
                for place in next.places {
                    rows += (byShard[place.shard] ?? []).map { row($0, at: now) }
                        .filter { ($0.place.dueAt, $0.place.id) > (place.dueAt, place.id) }
                        .sorted { ($0.place.dueAt, $0.place.id) < ($1.place.dueAt, $1.place.id) }
                        .prefix(next.perShard)
                }
                let request = SweepRequest(
                    Lane(number: 1, app: AppKey(store: .google, id: "a")), next, sources: [:],
                    patience: .seconds(5))
                let choice = SweepChoice(of: rows, for: request, heard: [], at: now)
                for place in choice.chosen {
                    let index = Int(place.id) - 1
                    all[index].gaps.append(clock - all[index].askedAt)
                    all[index].askedAt = clock
                }
                asked += choice.chosen.count
                walk.learn(
                    .swept(choice.chosen.count, reached: choice.reached, ended: choice.ended),
                    at: start + clock)
            }
        }

        mutating func forget() {
            asked = 0
            for index in all.indices { all[index].gaps = [] }
        }

        func meanGap(_ weight: Int) -> Double {
            let gaps = all.filter { $0.weight == weight }.flatMap(\.gaps)
            return gaps.reduce(.zero, +) / .hours(1) / Double(gaps.count)
        }
    }

    private func weights(_ count: Int) -> [Int] {
        (0..<count).map { [1, 2, 2, 2, 2, 4, 8, 8, 2, 32][$0 % 10] }
    }

    /// A fleet of which everything can be asked about once in some days.
    @Test func aLargeFleetIsAskedByItsWeights() {
        var fleet = Fleet(weights(200), shards: 8)
        let calls = 1.0 / 1500
        fleet.live(for: .days(40), calls: calls, every: .seconds(1501))
        fleet.forget()
        fleet.live(for: .days(80), calls: calls, every: .seconds(1501))
        let possible = calls * (Duration.days(80) / .seconds(1))
        #expect(Double(fleet.asked) > 0.93 * possible, "\(fleet.asked) of \(possible)")
        #expect(Double(fleet.asked) <= possible + 2)
        let (one, two, eight) = (fleet.meanGap(1), fleet.meanGap(2), fleet.meanGap(8))
        #expect(two / one > 1.4 && two / one < 2.6, "\(one) \(two)")
        #expect(eight / two > 2.5 && eight / two < 5.5, "\(two) \(eight)")
        // Nobody is forgotten.
        #expect(fleet.all.allSatisfy { !$0.gaps.isEmpty })
    }

    @Test func aSmallFleetIsAskedEachHour() {
        var fleet = Fleet(weights(100))
        fleet.live(for: .days(1), calls: 10, every: .seconds(10))
        fleet.forget()
        fleet.live(for: .days(4), calls: 10, every: .seconds(10))
        for one in fleet.all where one.weight <= 8 {
            let longest = one.gaps.max() ?? .days(9)
            let turn = Duration.hours(one.weight)
            #expect(longest >= turn && longest <= turn + .minutes(20), "\(one.weight) \(longest)")
        }
    }

    @Test func spendsNoMoreThanItIsGiven() {
        var fleet = Fleet(weights(1000))
        for _ in 0..<20 {
            let before = fleet.asked
            fleet.live(for: .minutes(1), calls: 0.5, every: .seconds(2))
            #expect(fleet.asked - before <= 32)
        }
    }

    // MARK: By itself

    @Test func waitsWhileTheQueueIsBehind() throws {
        let start = ContinuousClock.now
        var walk = SweepWalk(at: start)
        _ = walk.next(spending: 10, in: [0], at: start + .seconds(1))
        walk.learn(.behind, at: start + .seconds(1))
        #expect(walk.next(spending: 10, in: [0], at: start + .seconds(5)) == nil)
        let nextStep = walk.next(spending: 10, in: [0], at: start + .seconds(7))
        let next = try #require(nextStep)
        // What it was not let spend is no burst.
        #expect(next.limit <= 40)
    }

    @Test func restsBetweenTwoWalks() throws {
        let start = ContinuousClock.now
        var walk = SweepWalk(at: start)
        let firstStep = walk.next(spending: 10, in: [0, 1], at: start + .seconds(1))
        let first = try #require(firstStep)
        #expect(first.places.map(\.shard) == [0, 1])
        walk.learn(.swept(0, reached: [], ended: [0, 1]), at: start + .seconds(1))
        #expect(walk.next(spending: 10, in: [0, 1], at: start + .minutes(15)) == nil)
        #expect(walk.next(spending: 10, in: [0, 1], at: start + .minutes(16)) != nil)
    }

    @Test func looksOnlyAtShardsThatAreOurs() throws {
        let start = ContinuousClock.now
        var walk = SweepWalk(at: start)
        _ = walk.next(spending: 10, in: [0, 1, 2], at: start + .seconds(1))
        walk.learn(
            .swept(0, reached: [0, 1, 2].map(Place.start), ended: []), at: start + .seconds(1))
        let nextStep = walk.next(spending: 10, in: [1, 7], at: start + .seconds(2))
        let next = try #require(nextStep)
        #expect(next.places.map(\.shard) == [1])
        #expect(walk.next(spending: 10, in: [7], at: start + .seconds(3)) == nil)
        #expect(walk.next(spending: 10, in: [], at: start + .hours(3)) == nil)
    }

    @Test func withoutCallsNothingIsLookedAt() {
        let start = ContinuousClock.now
        var walk = SweepWalk(at: start)
        #expect(walk.next(spending: 0, in: [0], at: start + .days(1)) == nil)
    }
}
