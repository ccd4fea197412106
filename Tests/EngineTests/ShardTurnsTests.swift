import Renewal
import Testing

@testable import Engine

/// How workers with different apps take turns with shards.
@Suite struct ShardTurnsTests {
    private static let start = ContinuousClock.now
    private let app = AppKey(store: .google, id: "b")
    private let shards = Int16(0)..<256

    private func at(_ time: Duration) -> ContinuousClock.Instant { Self.start + time }

    private func lanes(
        lacking isLacking: Bool, place: Int = 0, of workers: Int = 3
    ) -> ConfiguredLanes {
        var lanes = ConfiguredLanes(lanes: [], highest: 1)
        lanes.uneven = [UnevenApp(app, isLacking: isLacking, without: ["one"])]
        lanes.turns = WorkerTurns(workers: workers, place: place, now: .someTime)
        return lanes
    }

    /// Within a round each shard is each worker's once, and at no time that of two.
    @Test func eachWorkerHasEachShardForATurn() throws {
        var all = (0..<3).map { place in
            var turns = ShardTurns()
            _ = turns.learn(lanes(lacking: true, place: place), at: at(.zero))
            return turns
        }
        var had = [Set<Int16>](repeating: [], count: 3)
        for number in 0..<3 {
            let now = at(ShardTurns.turn * number)
            let own = try all.map { try #require($0.own(of: shards, at: now)) }
            #expect(own.reduce(0) { $0 + $1.count } == shards.count)
            #expect(own.reduce(Set()) { $0.union($1) } == Set(shards))
            for (place, own) in own.enumerated() {
                #expect(had[place].isDisjoint(with: own))
                had[place].formUnion(own)
            }
        }
        #expect(had.allSatisfy { $0 == Set(shards) })
        // By the database's clock, whenever each has heard of it.
        var later = lanes(lacking: true, place: 1)
        later.turns = WorkerTurns(workers: 3, place: 1, now: .someTime + .seconds(25))
        let before = all[1].own(of: shards, at: at(.seconds(25)))
        _ = all[1].learn(later, at: at(.seconds(25)))
        #expect(all[1].own(of: shards, at: at(.seconds(25))) == before)
    }

    /// It takes what others give back, and has to give nothing back.
    @Test func whoHasAllAppsKeepsWhatItHas() {
        var turns = ShardTurns()
        #expect(!turns.areTaken)
        #expect(turns.learn(lanes(lacking: false), at: at(.zero)).isEmpty)
        #expect(turns.areTaken)
        #expect(turns.own(of: shards, at: at(.hours(1))) == nil)
    }

    @Test func tellsOnceWhatHasLasted() {
        let even = ConfiguredLanes(lanes: [], highest: 1)
        var turns = ShardTurns()
        for _ in 1...2 {
            #expect(
                turns.learn(lanes(lacking: true), at: at(.zero)).isEmpty,
                "a reload has not reached all yet")
            #expect(turns.learn(lanes(lacking: true), at: at(.zero)) == [app])
            #expect(turns.learn(lanes(lacking: true), at: at(.zero)).isEmpty)
            #expect(turns.learn(even, at: at(.zero)).isEmpty)
            #expect(!turns.areTaken && turns.own(of: shards, at: at(.zero)) == nil)
        }
    }
}
