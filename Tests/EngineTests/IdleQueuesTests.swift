import Renewal
import Testing

@testable import Engine

/// Which lanes are looked at, and which are woken.
@Suite struct IdleQueuesTests {
    private let now = Timestamp(microsecondsSinceEpoch: 1_700_000_000_000_000)

    private func heads(_ dueAt: [Int32: Timestamp]) -> QueueHeads {
        QueueHeads(now: now, dueAt: dueAt)
    }

    private func watch(_ lanes: ClosedRange<Int32>) -> IdleQueues {
        var watch = IdleQueues()
        watch.follow(lanes)
        return watch
    }

    @Test func oneLookServesManyLanesAndTheRestTakeTurns() {
        var watch = watch(1...1000)
        var looks = 0
        while watch.hasUnknown {
            let lanes = watch.nextLook()
            #expect(lanes.count <= IdleQueues.lookLimit)
            watch.learn(heads([:]), of: lanes)
            looks += 1
        }
        #expect(looks == 32)
        // From now on one look a poll; in a thousand lanes' time each has had its turn.
        var seen: Set<Int32> = []
        for _ in 0..<32 {
            let lanes = watch.nextLook()
            #expect(lanes.count == IdleQueues.lookLimit)
            seen.formUnion(lanes)
            watch.learn(heads([:]), of: lanes)
        }
        #expect(seen == Set(1...1000))
    }

    @Test func aLaneIsWokenWhenItsFirstPurchaseIsDueAndNotBefore() {
        var watch = watch(1...3)
        watch.learn(heads([1: now - .seconds(1), 2: now + .seconds(10)]), of: watch.nextLook())
        #expect(watch.due(at: now) == [1])
        #expect(watch.due(at: now + .seconds(10)).sorted() == [1, 2])
        let isNew = watch.start(1)
        #expect(isNew)
        #expect(watch.due(at: now) == [])
    }

    @Test func aLaneAtWorkLooksForItself() {
        var watch = watch(1...2)
        let (first, second) = (watch.start(1), watch.start(1))
        #expect(first && !second)
        #expect(watch.nextLook() == [2])
        // What was read before it began is of no meaning any more.
        watch.learn(heads([1: now]), of: [1])
        #expect(watch.isAtWork(1))
        watch.finish(1)
        #expect(watch.hasUnknown)
        #expect(watch.nextLook().contains(1))
    }

    @Test func otherShardsMakeAllUnknownButThoseAtWork() {
        var watch = watch(1...3)
        watch.learn(heads([:]), of: watch.nextLook())
        _ = watch.start(2)
        watch.forget()
        #expect(watch.nextLook() == [1, 3])
    }

    @Test func aLaneThatHasGoneIsNeitherLookedAtNorWoken() {
        var watch = watch(1...3)
        watch.learn(heads([2: now, 3: now]), of: watch.nextLook())
        watch.follow([1, 2])
        #expect(watch.due(at: now) == [2])
        #expect(watch.nextLook().sorted() == [1, 2])
        let isNew = watch.start(3)
        #expect(!isNew)
        watch.finish(3)
        #expect(!watch.hasUnknown)
    }

    /// What the look saw was before that: another session would find nothing.
    @Test func aLaneThatEndsItsWorkDuringALookIsLookedAtAgain() {
        var watch = watch(1...2)
        watch.learn(heads([1: now]), of: watch.nextLook())
        let lanes = watch.nextLook()
        _ = watch.start(1)
        watch.finish(1)
        watch.learn(heads([1: now]), of: lanes)
        #expect(watch.due(at: now) == [])
        #expect(watch.nextLook().first == 1)
    }

    /// Of a thousand lanes, without a word: the next poll sees it.
    @Test func aPurchaseThatWasSubmittedHasItsLaneLookedAt() {
        var watch = watch(1...1000)
        while watch.hasUnknown { watch.learn(heads([:]), of: watch.nextLook()) }
        let lanes = watch.nextLook()
        let lane = (1...1000).first { !lanes.contains($0) } ?? 0
        let arrivals = [Arrival(id: 17, lane: lane)]
        watch.learn(QueueHeads(now: now, dueAt: [:], arrivals: arrivals), of: lanes)
        #expect(watch.nextLook().first == lane)
        // The same again is no news.
        watch.learn(QueueHeads(now: now, dueAt: [:], arrivals: arrivals), of: [lane])
        watch.learn(QueueHeads(now: now, dueAt: [:], arrivals: arrivals), of: lanes)
        #expect(!watch.hasUnknown)
    }

    @Test func arrivalsReachBackForThoseThatCommitLate() {
        var arrivals = Arrivals()
        #expect(arrivals.learn([Arrival(id: 20, lane: 1)], at: now) == [1])
        #expect(arrivals.mark == 0)
        #expect(
            arrivals.learn(
                [Arrival(id: 20, lane: 1), Arrival(id: 19, lane: 2)], at: now + .seconds(9)) == [2])
        #expect(arrivals.learn([Arrival(id: 20, lane: 1)], at: now + .seconds(10)) == [])
        #expect(arrivals.mark == 20)
        #expect(arrivals.learn([], at: now + .seconds(60)) == [])
        #expect(arrivals.mark == 20)
    }
}
