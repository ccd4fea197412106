import Renewal
import Testing

@testable import Engine

/// What is decided about the sources of hints, on a clock that the test moves.
@Suite final class HintWatchTests {
    private var now = ContinuousClock.now
    private var watch = HintWatch(isOnePass: false)
    private let told = Timestamp(microsecondsSinceEpoch: 1_700_000_000_000_000)

    private func names(_ count: Int, _ prefix: String = "source") -> [SourceID] {
        (0..<count).map { SourceID("\(prefix) \(1000 + $0)") }
    }

    private func follow(_ names: [SourceID], endpoint: EndpointID = "google") {
        _ = watch.follow(names.map { ($0, endpoint) }, at: now)
    }

    private func open() -> HintRound? {
        watch.round(at: now, pace: .seconds(1), lease: .seconds(30))
    }

    /// One round, in which the database gives all that is wanted but for those that another has.
    private func round(
        failures: [SourceID: Int] = [:], held: [SourceID: Duration] = [:], lost: Set<SourceID> = []
    ) -> (round: HintRound?, cut: [SourceID]) {
        guard let round = open() else {
            return (nil, [])
        }
        var turns = HintTurns(now: told)
        for name in round.wanted {
            turns.waits[name] = held[name]
            if held[name] == nil {
                turns.granted[name] = HintCursor(position: nil, failures: failures[name] ?? 0)
            }
        }
        turns.lost = lost
        return (round, watch.learn(turns, of: round, sent: now, at: now))
    }

    private func end(
        _ names: [SourceID], _ outcome: HintReading.Outcome = .read, rest: Duration = .seconds(60)
    ) {
        for name in names { watch.ended(HintReading(name, outcome, rest: rest), at: now) }
    }

    private func start() -> [SourceID] { watch.starts(at: now).map(\.source) }

    /// The point of it: a thousand sources, a minute, and how many transactions.
    @Test func aThousandSourcesCostAFewRoundsAMinute() {
        let apple = names(500, "apple"), google = names(500, "google")
        _ = watch.follow(
            apple.map { ($0, "apple") } + google.map { ($0, "google") }, at: now)
        let end = now + .minutes(10)
        var (rounds, read) = (0, 0)
        while now < end {
            if round().round != nil { rounds += 1 }
            while case let started = start(), !started.isEmpty {
                read += started.count
                self.end(started)
            }
            guard let next = watch.wakesAt(pace: .seconds(1), after: now) else { break }
            now = max(next, now + .milliseconds(1))
        }
        #expect(read >= 9 * 1000)
        #expect(rounds <= 10 * 6, "\(rounds) rounds in ten minutes")
    }

    @Test func readsNoMoreAtOnceThanTheLimitAndTheRestInTurn() {
        let all = names(150)
        follow(all)
        #expect(round().round?.wanted == all)
        #expect(start() == Array(all.prefix(HintWatch.readLimit)))
        #expect(start() == [])
        end([all[0], all[5]])
        #expect(start() == Array(all.dropFirst(HintWatch.readLimit).prefix(2)))
    }

    /// A store that hangs takes no place of another's.
    @Test func anEndpointThatHangsHoldsUpNoOther() {
        _ = watch.follow(
            names(400, "dead").map { ($0, "google") } + names(3, "well").map { ($0, "apple") },
            at: now)
        let wanted = round().round?.wanted ?? []
        #expect(wanted.count == HintWatch.holdLimit + 3)
        #expect(Set(start()).isSuperset(of: names(3, "well")))
        end(names(3, "well"))
        now += .seconds(61)
        _ = round()
        now += .seconds(1)
        _ = round()
        #expect(start() == names(3, "well"))
    }

    /// Those that have failed share a part of the places of their endpoint.
    @Test func deadSourcesLeavePlacesToOthers() {
        let dead = names(80, "dead"), well = names(90, "well")
        follow(dead + well)
        _ = round(failures: Dictionary(uniqueKeysWithValues: dead.map { ($0, 3) }))
        let started = start()
        let served = HintWatch.readLimit - HintWatch.failingLimit
        #expect(started == Array(dead.prefix(HintWatch.failingLimit)) + well.prefix(served))
        end(well)
        #expect(start() == Array(well.dropFirst(served)))
    }

    /// Where a store has asked for no calls, one may wait for hours.
    @Test func whoWaitsForItsTurnToCallHoldsUpNobody() {
        let all = names(300)
        follow(all)
        _ = round()
        let first = start()
        for name in first { watch.waits(name, true) }
        #expect(start().count == HintWatch.readLimit)
        now += .seconds(1)
        // Room for the 44 that were not taken at first.
        #expect(round().round?.wanted.count == 44)
        for name in first { watch.waits(name, false) }
        #expect(start() == [])
    }

    @Test func keepsWhatIsBeingReadUntilItIsTold() {
        let all = names(2)
        follow(all)
        _ = round()
        _ = start()
        #expect(watch.wakesAt(pace: .seconds(1), after: now) == now + .seconds(10))
        now += .seconds(10)
        #expect(round().round?.kept.sorted() == all)
        end([all[0]])
        now += .seconds(1)
        let told = round().round
        #expect(told?.ended.map(\.source) == [all[0]])
        // The time since it has ended is part of its rest.
        #expect(told?.ended.map(\.rest) == [.seconds(59)])
        #expect(told?.kept == [])
        #expect(round().round == nil)
    }

    @Test func leavesToAnotherWorkerWhatItHas() {
        let all = names(3)
        follow(all)
        _ = round(held: [all[1]: .seconds(20)])
        #expect(start() == [all[0], all[2]])
        now += .seconds(10)
        // Its lease ran out while we stood still: what is being read is cut short.
        #expect(round(lost: [all[2]]).cut == [all[2]])
        end([all[2]], .left, rest: .zero)
        now += .seconds(10)
        let again = round().round
        #expect(again?.wanted == [all[1]])
        #expect(again?.ended.map(\.outcome) == [.left])
    }

    @Test func tellsAgainWhatTheDatabaseDidNotTake() throws {
        let all = names(2)
        follow(all)
        _ = round(held: [all[1]: .seconds(5)])
        _ = start()
        end([all[0]])
        now += .seconds(5)
        let lost = try #require(open())
        #expect(lost.wanted == [all[1]] && lost.ended.count == 1)
        watch.failed(lost, at: now)
        now += HintWatch.databasePause - .milliseconds(1)
        #expect(round().round == nil)
        now += .milliseconds(1)
        let again = round().round
        #expect(again?.ended.map(\.rest) == [.seconds(50)])
        #expect(again?.wanted == [all[1]])
    }

    @Test func aSourceThatHasGoneIsLetGoOf() {
        let all = names(4)
        follow(all)
        _ = round(held: [all[3]: .seconds(5)])
        let changes = watch.follow([("new", "google")], at: now)
        #expect(changes.come == ["new"] && changes.gone == all)
        #expect(start() == [])
        now += .seconds(1)
        let told = round().round
        #expect(told?.ended.map(\.source).sorted() == Array(all.prefix(3)))
        #expect(told?.ended.allSatisfy { $0.outcome == .left && $0.rest == .zero } == true)
        #expect(told?.wanted == ["new"])
        let back = watch.follow([("new", "google"), (all[0], "google")], at: now)
        #expect(back.come == [all[0]] && back.gone == [])
    }

    @Test func aStopLetsGoOfAllAndWaitsForWhatIsBeingRead() {
        let all = names(120)
        follow(all)
        _ = round()
        let started = start()
        watch.stop(at: now)
        #expect(Set(watch.toCut) == Set(started))
        // No pace holds up a stop.
        #expect(round().round?.ended.count == 120 - HintWatch.readLimit)
        #expect(!watch.isOver)
        end(started, .left, rest: .zero)
        #expect(round().round?.ended.count == HintWatch.readLimit)
        #expect(watch.isOver)
        #expect(round().round == nil)
    }

    /// The leases run out by themselves.
    @Test func aStopDoesNotWaitForADatabaseThatIsAway() throws {
        let all = names(2)
        follow(all)
        _ = round()
        end(start(), .left, rest: .zero)
        watch.stop(at: now)
        let round = try #require(open())
        watch.failed(round, at: now)
        #expect(watch.isOver)
    }

    @Test func onePassReadsEachOnceAndThenIsOver() {
        watch = HintWatch(isOnePass: true)
        let all = names(300)
        follow(all)
        var read: [SourceID] = []
        for _ in 0..<20 where !watch.isOver {
            let made = round(held: [all[7]: .seconds(20)]).round
            #expect(made?.isEarly ?? true)
            let started = start()
            read += started
            end(started)
            now += .seconds(1)
        }
        #expect(watch.isOver)
        #expect(read.sorted() == all.filter { $0 != all[7] })
    }

    @Test func onePassNamesWhatIsLimitedAndKeepsWhatItOwes() throws {
        watch = HintWatch(isOnePass: true)
        let all = names(2)
        _ = watch.follow(all.map { ($0, "google") }, limited: [all[1]], at: now)
        let asked = try #require(open())
        #expect(asked.limited == [all[1]])
        var turns = HintTurns(now: told)
        for name in all { turns.granted[name] = HintCursor(position: nil, failures: 0) }
        turns.early[all[1]] = .seconds(90)
        #expect(watch.learn(turns, of: asked, sent: now, at: now) == [])
        let starts = watch.starts(at: now)
        #expect(starts.first { $0.source == all[1] }?.early == .seconds(90))
    }

    @Test func whatIsGivenBackUnreadIsDueWhenItWas() throws {
        watch = HintWatch(isOnePass: true)
        let all = names(1)
        _ = watch.follow(all.map { ($0, "google") }, limited: Set(all), at: now)
        let asked = try #require(open())
        var turns = HintTurns(now: told)
        turns.granted[all[0]] = HintCursor(position: nil, failures: 0)
        turns.early[all[0]] = .seconds(90)
        watch.stop(at: now)
        _ = watch.learn(turns, of: asked, sent: now, at: now)
        #expect(try #require(open()).ended.map(\.rest) == [.seconds(90)])
    }

    @Test func onePassEndsWithTheDatabase() throws {
        watch = HintWatch(isOnePass: true)
        follow(names(3))
        let round = try #require(open())
        watch.failed(round, at: now)
        #expect(watch.isOver)
    }
}
