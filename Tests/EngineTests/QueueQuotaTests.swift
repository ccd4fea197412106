import Renewal
import Testing

@testable import Engine

// The places in the row of calls that a queue takes.
extension QueueMachineTests {
    @Test func noCheckStartsWithoutAPlaceInTheRow() {
        var (machine, actions) = filled(20, interval: .milliseconds(100))
        expect(settle(&machine, actions, at: .zero).isEmpty)
        guard case .reserve(let calls, let stretch)? = actions.last(where: { $0.isReservation })
        else {
            Issue.record("nothing is reserved")
            return
        }
        #expect(calls == 1)
        #expect(stretch >= .milliseconds(100))
        actions = machine.on(
            .reserved(
                .granted(in: .seconds(1), until: .someTime), calls: calls, sent: at(.zero),
                answered: at(.zero)),
            at: at(.zero))
        expect(settle(&machine, actions, at: .zero).isEmpty)
        #expect(machine.wakesAt(after: at(.zero)) == at(.seconds(1)))
        actions = machine.on(.tick, at: at(.seconds(1)))
        expect(settle(&machine, actions, at: .seconds(1)).count == 1)
    }

    /// What starts behind the call that opens the connection would arrive with it at once.
    @Test func theFirstCallOfASessionGoesAlone() {
        var (machine, actions) = filled(20, interval: .milliseconds(100))
        func reserved(_ calls: Int, at now: Duration) -> [QueueMachine.Action] {
            machine.on(
                .reserved(
                    .granted(in: .zero, until: .someTime), calls: calls, sent: at(now),
                    answered: at(now)),
                at: at(now))
        }
        actions += reserved(1, at: .zero)
        expect(settle(&machine, actions, at: .zero).count == 1)
        expect(!machine.on(.tick, at: at(.seconds(1))).contains { $0.isReservation })
        #expect(machine.wakesAt(after: at(.seconds(1))) == at(.seconds(2)))
        var hanging = machine
        expect(hanging.on(.tick, at: at(.seconds(2))).contains { $0.isReservation }, "it hangs")
        actions = machine.on(.answered(verdict, since: at(.zero), jitter: 0), at: at(.seconds(1)))
        guard case .reserve(let calls, let stretch)? = actions.last(where: { $0.isReservation })
        else {
            Issue.record("nothing is reserved")
            return
        }
        // A quarter of a second's worth, one after the other.
        #expect(calls == 2 && stretch == .milliseconds(206))
        expect(settle(&machine, reserved(calls, at: .seconds(1)), at: .seconds(1)).count == 1)
        let next = Duration.seconds(1) + .milliseconds(103)
        expect(settle(&machine, machine.on(.tick, at: at(next)), at: next).count == 1)
    }

    @Test func aStopGivesBackTheCallsThatNobodyMakes() {
        let app = AppKey(store: .google, id: "com.example.reader")
        var (machine, actions) = filled(20, interval: .milliseconds(100))
        actions += machine.on(
            .reserved(
                .granted(in: .zero, until: .someTime), calls: 8, sent: at(.zero),
                answered: at(.zero)),
            at: at(.zero))
        #expect(settle(&machine, actions, at: .zero).count == 1)
        expect(machine.callsToGiveBack(at: at(.zero), of: app) == nil, "they are needed")
        // The second is lost: its time has come, and it was not made.
        _ = machine.on(.stop, at: at(.milliseconds(150)))
        let unused = machine.callsToGiveBack(at: at(.milliseconds(150)), of: app)
        #expect(unused?.stretch == .milliseconds(618) && unused?.reservedUntil == .someTime)
        expect(machine.callsToGiveBack(at: at(.milliseconds(150)), of: app) == nil, "once")
        // One that was on its way.
        _ = machine.on(
            .reserved(
                .granted(in: .seconds(1), until: .someTime), calls: 5, sent: at(.seconds(1)),
                answered: at(.seconds(1))),
            at: at(.seconds(1)))
        expect(
            machine.callsToGiveBack(at: at(.seconds(1)), of: app)?.stretch == .milliseconds(515))
    }

    @Test func aFullRowIsAskedForAgainLater() {
        var (machine, _) = filled(20, interval: .milliseconds(100))
        let reserved = machine.on(
            .reserved(
                .askAgain(in: .milliseconds(300)), calls: 8, sent: at(.zero), answered: at(.zero)),
            at: at(.zero))
        #expect(!reserved.contains { $0.isReservation })
        #expect(machine.wakesAt(after: at(.zero)) == at(.milliseconds(300)))
        expect(machine.on(.tick, at: at(.milliseconds(300))).contains { $0.isReservation })
    }

    /// A store may have asked for an hour: one pass leaves the rest to the next one.
    @Test(arguments: [(RunMode.onePass(limit: nil), true), (.forever, false)])
    func onePassDoesNotWaitForAnHour(_ mode: RunMode, ends: Bool) {
        var (machine, _) = filled(20, mode, interval: .milliseconds(100))
        for (wait, isEnd) in [(QueueMachine.longestPassWait, false), (.hours(1), ends)] {
            let actions = machine.on(
                .reserved(.askAgain(in: wait), calls: 8, sent: at(.zero), answered: at(.zero)),
                at: at(.zero))
            #expect(actions.contains(.end) == isEnd)
        }
    }

    /// Its first call may have been too late for its place: no connection is open then.
    @Test func aFurtherCallOfTheFirstCheckGoesAheadAlone() {
        var (machine, actions) = filled(20, interval: .milliseconds(100))
        func reserved(_ now: Duration) -> [QueueMachine.Action] {
            machine.on(
                .reserved(
                    .granted(in: .zero, until: .someTime), calls: 1, sent: at(now),
                    answered: at(now)),
                at: at(now))
        }
        actions += reserved(.zero)
        expect(settle(&machine, actions, at: .zero).count == 1)
        actions = machine.on(.extraCall(7), at: at(.milliseconds(300)))
        guard case .reserve(1, _)? = actions.last(where: { $0.isReservation }) else {
            Issue.record("nothing is reserved, or more than one")
            return
        }
        expect(
            reserved(.milliseconds(300)).contains {
                if case .admit(7, _) = $0 { true } else { false }
            })
        expect(!machine.on(.tick, at: at(.seconds(1))).contains { $0.isReservation }, "still alone")
        expect(
            machine.on(.answered(verdict, since: at(.zero), jitter: 0), at: at(.seconds(1)))
                .contains { $0.isReservation })
    }

    @Test func whatWasBegunGoesBeforeFurtherChecks() {
        var (machine, _) = filled(20, interval: .milliseconds(100))
        let waits = machine.on(.extraCall(7), at: at(.zero))
        #expect(!waits.contains { if case .admit = $0 { true } else { false } })
        _ = machine.on(
            .reserved(
                .granted(in: .zero, until: .someTime), calls: 8, sent: at(.zero),
                answered: at(.zero)),
            at: at(.zero))
        #expect(machine.callers.isEmpty, "the first place is the caller's")
        #expect(machine.inFlight == 0)
    }

    @Test func betweenSessionsACallTakesItsOwnPlace() {
        var machine = machine()
        _ = machine.on(.tick, at: at(.zero))
        expect(machine.on(.read([]), at: at(.zero)).contains(.end))
        expect(machine.on(.extraCall(1), at: at(.seconds(1))) == [.turnAway(1)])
    }
}
