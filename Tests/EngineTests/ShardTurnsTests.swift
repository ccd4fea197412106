import Renewal
import Testing

@testable import Engine

/// How workers with different apps pass shards on.
@Suite struct ShardTurnsTests {
    private static let start = ContinuousClock.now
    private let app = AppKey(store: .google, id: "b")

    private func at(_ time: Duration) -> ContinuousClock.Instant { Self.start + time }

    private func lacking(_ isLacking: Bool) -> [UnevenApp] {
        [UnevenApp(app, isLacking: isLacking, without: ["one"])]
    }

    @Test func passesOnWhatWasKeptForATurn() {
        var turns = ShardTurns()
        #expect(turns.over(of: [1, 2], at: at(.hours(-1))).isEmpty, "all have the same apps")
        _ = turns.learn(lacking(true))
        #expect(turns.over(of: [1, 2], at: at(.zero)).isEmpty)
        #expect(turns.over(of: [1, 2, 3], at: at(.seconds(9))).isEmpty)
        #expect(turns.over(of: [1, 2, 3], at: at(.seconds(10))) == [1, 2])
        turns.passedOn(at: at(.seconds(10)))
        #expect(!turns.mayTake(at: at(.seconds(14))))
        #expect(turns.mayTake(at: at(.seconds(15))))
        #expect(turns.over(of: [3], at: at(.seconds(19))) == [3])
        #expect(turns.over(of: [1, 3], at: at(.seconds(20))) == [3], "a new turn of the first")
    }

    /// It takes what others pass on, and has to pass nothing on.
    @Test func whoHasAllAppsKeepsWhatItHas() {
        var turns = ShardTurns()
        #expect(!turns.areTaken)
        #expect(turns.learn(lacking(false)).isEmpty)
        #expect(turns.areTaken)
        _ = turns.over(of: [1], at: at(.zero))
        #expect(turns.over(of: [1], at: at(.hours(1))).isEmpty)
    }

    @Test func tellsOnceWhatHasLasted() {
        var turns = ShardTurns()
        #expect(turns.learn(lacking(true)).isEmpty, "a reload has not reached all yet")
        #expect(turns.learn(lacking(true)) == [app])
        #expect(turns.learn(lacking(true)).isEmpty)
        _ = turns.over(of: [1], at: at(.zero))
        #expect(turns.learn([]).isEmpty)
        #expect(turns.over(of: [1], at: at(.hours(1))).isEmpty)
        #expect(turns.learn(lacking(true)).isEmpty)
        #expect(turns.learn(lacking(true)) == [app])
    }
}
