import Renewal
import Testing

@testable import Engine

/// What a queue does, event by event, on a clock of its own.
@Suite struct QueueMachineTests {
    private static let start = ContinuousClock.now
    let world = World()

    func at(_ time: Duration) -> ContinuousClock.Instant { Self.start + time }

    func machine(
        _ mode: RunMode = .forever, inFlight: Int = 100, interval: Duration? = nil
    ) -> QueueMachine {
        var machine = QueueMachine(
            mode,
            QueueMachine.Limits(
                inFlight: inFlight, poll: .seconds(1), patience: .seconds(30), interval: interval),
            at: at(.zero))
        machine.begin(at: at(.zero))
        return machine
    }

    /// A machine with so many claims in its buffer; nothing was asked yet.
    func filled(
        _ count: Int, _ mode: RunMode = .forever, inFlight: Int = 100, interval: Duration? = nil
    ) -> (machine: QueueMachine, actions: [QueueMachine.Action]) {
        var machine = machine(mode, inFlight: inFlight, interval: interval)
        let first = machine.on(.tick, at: at(.zero))
        #expect(first.contains { if case .read = $0 { true } else { false } })
        let claims = (0..<count).map { _ in world.makeClaim() }
        expect(machine.on(.read(claims), at: at(.zero)).contains(.keep(claims)))
        let actions = machine.on(.kept(claims, fresh: count), at: at(.zero))
        return (machine, actions)
    }

    /// Does what a machine wants done at once: as many slots as it asks for. Gives what it starts.
    func settle(
        _ machine: inout QueueMachine, _ actions: [QueueMachine.Action], at time: Duration
    ) -> [Claim] {
        var started: [Claim] = []
        for action in actions {
            switch action {
            case .takeSlots(let count):
                started += settle(&machine, machine.on(.slots(count), at: at(time)), at: time)
            case .start(let claim, _): started.append(claim)
            default: break
            }
        }
        return started
    }

    /// The macro would look at a copy of what it changes.
    func expect(
        _ holds: Bool, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(holds, comment, sourceLocation: sourceLocation)
    }

    let verdict = Answer.doubt(.notFound)

    // MARK: Ramp

    @Test func beginsWithFewAndTakesMoreAsTheStoreAnswers() {
        var (machine, actions) = filled(100, inFlight: 24)
        expect(settle(&machine, actions, at: .zero).count == QueueMachine.firstWindow)
        actions = machine.on(.answered(verdict, since: at(.zero), jitter: 0), at: at(.seconds(1)))
        _ = settle(&machine, actions, at: .seconds(1))
        #expect(machine.window == 16)
        for _ in 0..<5 {
            actions = machine.on(
                .answered(verdict, since: at(.zero), jitter: 0), at: at(.seconds(1)))
            _ = settle(&machine, actions, at: .seconds(1))
        }
        #expect(machine.window == 24, "no more than may be under way")
        #expect(machine.inFlight <= 24)
    }

    @Test func asksTheOldestFirst() {
        var (machine, actions) = filled(20)
        let started = settle(&machine, actions, at: .zero)
        #expect(started.map(\.dueAt) == started.map(\.dueAt).sorted())
        actions = []
        #expect(machine.buffer.allSatisfy { $0.dueAt > started[0].dueAt })
    }

    /// What was imported waits: what becomes due meanwhile goes before it, and its place in the
    /// back-fill does not hide what is due.
    @Test func asksForWhatIsDueBeforeTheBackfill() {
        var machine = machine(inFlight: 8)
        _ = machine.on(.tick, at: at(.zero))
        func imported() -> Claim {
            world.makeClaim(dueIn: .backfill - world.now + .days(9000))
        }
        let waiting = (1...4).map { _ in imported() }
        _ = machine.on(.read(waiting), at: at(.zero))
        #expect(machine.places.isEmpty && !machine.backfillPlaces.isEmpty)
        _ = machine.on(.kept(waiting, fresh: 4), at: at(.zero))
        let due = (0..<3).map { _ in world.makeClaim() }
        let more = [imported()]
        _ = machine.on(.read(due + more), at: at(.zero))
        #expect(!machine.places.isEmpty)
        _ = machine.on(.kept(due + more, fresh: 4), at: at(.zero))
        let served = machine.buffer.reversed().map(\.isBackfill)
        #expect(served == [false, false, false, true, true, true, true, true])
        #expect(machine.buffer.first == more[0], "the youngest comes last")
    }

    @Test func aFailureOfTheWholeAppHalvesWhatIsUnderWay() {
        var (machine, actions) = filled(100)
        _ = settle(&machine, actions, at: .zero)
        _ = machine.on(.answered(outage, since: at(.zero), jitter: 0), at: at(.seconds(1)))
        #expect(machine.window == QueueMachine.firstWindow / 2)
        actions = []
    }

    /// Poison: what one purchase does to the store is no reason to ask about fewer others.
    @Test func aFailureOfOnePurchaseAloneChangesNothing() {
        var (machine, actions) = filled(100)
        _ = settle(&machine, actions, at: .zero)
        let failure = Answer.failure(.rejected(reason: "status 400"))
        for _ in 0..<8 {
            actions = machine.on(
                .answered(failure, since: at(.zero), jitter: 0), at: at(.seconds(1)))
            #expect(!actions.contains { if case .circuitOpened = $0 { true } else { false } })
        }
        #expect(machine.window == QueueMachine.firstWindow)
        #expect(machine.circuit.position == .closed)
    }

    // MARK: Back-pressure

    @Test func startsNothingWhileOutcomesCannotBeCommitted() {
        var (machine, actions) = filled(20)
        _ = machine.on(.commits(.wait), at: at(.zero))
        expect(settle(&machine, machine.on(.tick, at: at(.zero)), at: .zero).isEmpty)
        actions = machine.on(.commits(.flow), at: at(.seconds(1)))
        expect(settle(&machine, actions, at: .seconds(1)).count == QueueMachine.firstWindow)
    }

    @Test func outcomesThatWaitForTheCommitterHoldTheNextChecks() {
        var (machine, actions) = filled(20, inFlight: 4)
        expect(settle(&machine, actions, at: .zero).count == 4)
        actions = machine.on(.answered(verdict, since: at(.zero), jitter: 0), at: at(.seconds(1)))
        expect(settle(&machine, actions, at: .seconds(1)).isEmpty, "it has not settled")
        actions = machine.on(.settled, at: at(.seconds(1)))
        expect(settle(&machine, actions, at: .seconds(1)).count == 1)
    }

    @Test func readsNoMoreWhileEnoughIsInTheBuffer() {
        let (_, actions) = filled(50, inFlight: 8)
        #expect(!actions.contains { if case .read = $0 { true } else { false } })
    }

    @Test func withoutASlotNothingStarts() {
        var (machine, actions) = filled(5)
        #expect(actions.contains(.takeSlots(5)))
        expect(machine.on(.slots(0), at: at(.zero)).isEmpty)
        #expect(machine.inFlight == 0)
        actions = machine.on(.tick, at: at(.seconds(1)))
        expect(settle(&machine, actions, at: .seconds(1)).count == 5)
    }

    /// Without this the queue would look again and again, as fast as it can.
    @Test func whoWaitsForASlotIsNotWokenByTheClock() {
        var (machine, _) = filled(20, interval: .milliseconds(100))
        let calls = QueueMachine.firstWindow
        _ = machine.on(
            .reserved(
                .granted(in: .zero, until: .someTime), calls: calls, sent: at(.zero),
                answered: at(.zero)),
            at: at(.zero))
        _ = machine.on(.slots(0), at: at(.zero))
        #expect(machine.wakesAt(after: at(.zero)) == at(.seconds(1)))
        var opened = opened()
        _ = opened.on(.tick, at: at(.seconds(10)))
        _ = opened.on(.slots(0), at: at(.seconds(10)))
        #expect(opened.wakesAt(after: at(.seconds(10))) == at(.seconds(11)))
    }

    @Test func aSlotThatComesAfterTheEndIsGivenBack() {
        var (machine, _) = filled(5)
        _ = machine.on(.stop, at: at(.zero))
        expect(machine.on(.slots(2), at: at(.zero)) == [.giveSlot, .giveSlot])
        #expect(machine.takeBuffer().count == 5)
    }

    @Test func aClaimOfALostShardGivesItsSlotBack() {
        var (machine, actions) = filled(1)
        expect(settle(&machine, actions, at: .zero).count == 1)
        actions = machine.on(.notStarted, at: at(.zero))
        #expect(actions.contains(.giveSlot))
        #expect(machine.inFlight == 0 && machine.unsettled == 0)
    }

    // MARK: Circuit

    /// The next one of the app begins closed, and says nothing of that by itself.
    @Test func aStopLeavesNoCircuitOpen() {
        var machine = opened()
        let actions = machine.on(.stop, at: at(.seconds(2)))
        #expect(actions.contains { if case .circuitMoved = $0 { true } else { false } })
        #expect(machine.circuit.position == .closed)
        // Nor does what was under way.
        for second in 3..<20 {
            let late = machine.on(
                .answered(outage, since: at(.zero), jitter: 1), at: at(.seconds(second)))
            expect(late == [.giveSlot])
        }
        #expect(machine.circuit.position == .closed)
    }

    @Test func aStopLeavesNoPaceSlowed() {
        var (machine, actions) = filled(100)
        _ = settle(&machine, actions, at: .zero)
        actions = []
        let throttled = Answer.failure(.throttled(retryAfter: nil))
        for _ in 0..<QueueMachine.firstWindow {
            actions += machine.on(
                .answered(throttled, since: at(.zero), jitter: 1), at: at(.seconds(1)))
        }
        #expect(machine.pace.share < 1)
        #expect(machine.on(.stop, at: at(.seconds(2))).contains(.paceMoved))
        #expect(machine.pace.share == 1)
    }

    private func opened() -> QueueMachine {
        var (machine, actions) = filled(100)
        _ = settle(&machine, actions, at: .zero)
        actions = []
        for _ in 0..<QueueMachine.firstWindow {
            actions += machine.on(
                .answered(outage, since: at(.zero), jitter: 1), at: at(.seconds(1)))
            _ = machine.on(.settled, at: at(.seconds(1)))
        }
        #expect(actions.contains { if case .circuitOpened = $0 { true } else { false } })
        #expect(machine.circuit.position == .open)
        return machine
    }

    @Test func anOutageOpensTheCircuitAndNothingStarts() {
        var machine = opened()
        let actions = machine.on(.tick, at: at(.seconds(2)))
        expect(settle(&machine, actions, at: .seconds(2)).isEmpty)
    }

    @Test func afterThePauseASingleProbeStarts() {
        var machine = opened()
        let wakes = machine.wakesAt(after: at(.seconds(1)))
        #expect(wakes <= at(.seconds(3)))
        var actions = machine.on(.tick, at: at(.seconds(10)))
        expect(settle(&machine, actions, at: .seconds(10)).count == 1)
        actions = machine.on(.tick, at: at(.seconds(11)))
        expect(settle(&machine, actions, at: .seconds(11)).isEmpty, "one probe at a time")
    }

    @Test func aProbeThatIsAnsweredClosesIt() {
        var machine = opened()
        _ = settle(&machine, machine.on(.tick, at: at(.seconds(10))), at: .seconds(10))
        let actions = machine.on(
            .answered(verdict, since: at(.seconds(10)), jitter: 0), at: at(.seconds(11)))
        #expect(actions.contains(.circuitClosed))
        expect(!settle(&machine, actions, at: .seconds(11)).isEmpty)
    }

    // MARK: Poison

    /// What stays due and may not be asked about, as after an outcome that the database refuses, comes
    /// with each read: its neighbours go on, and it keeps no session open.
    @Test func whatStaysInHandIsNotStartedAndHoldsUpNobody() {
        var machine = machine()
        _ = machine.on(.tick, at: at(.zero))
        let claims = (0..<3).map { _ in world.makeClaim() }
        let (poison, others) = (claims[0], Array(claims[1...]))
        expect(machine.on(.read(claims), at: at(.zero)).contains(.keep(claims)))
        let started = settle(
            &machine, machine.on(.kept(others, fresh: 2), at: at(.zero)), at: .zero)
        #expect(Set(started) == Set(others))
        for _ in started {
            _ = machine.on(.answered(verdict, since: at(.zero), jitter: 0.5), at: at(.seconds(1)))
            _ = machine.on(.settled, at: at(.seconds(1)))
        }
        expect(machine.on(.read([poison]), at: at(.seconds(2))).contains(.keep([poison])))
        expect(machine.on(.kept([], fresh: 0), at: at(.seconds(2))).contains(.end))
        #expect(!machine.isInSession)
    }

    /// Another session holds its rows: who waits behind it goes on, and what rests alone keeps
    /// nobody awake.
    @Test(arguments: [RunMode.forever, .onePass(limit: nil)])
    func whatRestsIsPassedBy(_ mode: RunMode) {
        var machine = machine(mode)
        _ = machine.on(.tick, at: at(.zero))
        let (resting, other) = (world.makeClaim(), world.makeClaim())
        let ids: Set<Int64> = [resting.purchaseID]
        var actions = machine.on(.read([resting], resting: ids), at: at(.zero))
        #expect(actions.contains { if case .read = $0 { true } else { false } }, "it reads on")
        expect(
            machine.on(.read([other], resting: []), at: at(.zero)).contains(.keep([other])))
        let started = settle(
            &machine, machine.on(.kept([other], fresh: 1), at: at(.zero)), at: .zero)
        #expect(started == [other])
        _ = machine.on(.answered(verdict, since: at(.zero), jitter: 0), at: at(.zero))
        _ = machine.on(.settled, at: at(.zero))
        _ = machine.on(.read([]), at: at(.zero))
        _ = machine.on(.tick, at: at(.seconds(1)))
        _ = machine.on(.read([resting], resting: ids), at: at(.seconds(1)))
        actions = machine.on(.read([]), at: at(.seconds(1)))
        #expect(actions == [.end])
    }

    // MARK: The end

    @Test func aQueueWithNothingDueEnds() {
        var machine = machine()
        _ = machine.on(.tick, at: at(.zero))
        expect(machine.on(.read([]), at: at(.zero)) == [.end])
        #expect(!machine.isInSession)
    }

    @Test func aStopStartsNothingAndLetsGoOfWhoWaits() {
        var (machine, actions) = filled(20, interval: .milliseconds(100))
        _ = machine.on(.extraCall(3), at: at(.zero))
        actions = machine.on(.stop, at: at(.zero))
        #expect(actions == [.turnAway(3), .end])
        expect(machine.on(.tick, at: at(.seconds(5))).isEmpty)
        #expect(machine.takeBuffer().count == 20)
        machine.begin(at: at(.seconds(6)))
        #expect(!machine.isInSession, "it stays stopped")
    }

    @Test func onePassEndsWhenNothingIsLeftAndNothingIsUnderWay() {
        var (machine, actions) = filled(1, .onePass(limit: nil))
        expect(settle(&machine, actions, at: .zero).count == 1)
        // What was read so far is behind it.
        _ = machine.on(.read([]), at: at(.zero))
        #expect(machine.isInSession, "a check is under way")
        _ = machine.on(.answered(verdict, since: at(.zero), jitter: 0), at: at(.seconds(1)))
        _ = machine.on(.settled, at: at(.seconds(1)))
        #expect(machine.isInSession, "it has not looked since")
        _ = machine.on(.tick, at: at(.seconds(2)))
        actions = machine.on(.read([]), at: at(.seconds(2)))
        #expect(actions.contains(.end))
    }

    /// Another session holds the row of its calls.
    @Test func onePassBearsOnlyForAWhileThatNoCallsCanBeReserved() {
        var (machine, _) = filled(1, .onePass(limit: nil), interval: .milliseconds(100))
        for second in 0...30 {
            _ = machine.on(.reservationFailed(isLasting: false), at: at(.seconds(second)))
            #expect(machine.isInSession)
        }
        let actions = machine.on(.reservationFailed(isLasting: false), at: at(.seconds(31)))
        #expect(actions.contains(.end))
    }

    @Test func onePassLeavesToTheNextWhatBecomesDueMeanwhile() {
        var (machine, _) = filled(1, .onePass(limit: nil))
        let later = world.makeClaim(dueIn: .hours(2))
        expect(!machine.on(.read([later]), at: at(.zero)).contains(.keep([later])))
    }

    @Test func onePassBearsAFaultOnlySoLong() {
        var machine = machine(.onePass(limit: nil))
        _ = machine.on(.tick, at: at(.zero))
        expect(!machine.on(.readFailed(isLasting: false), at: at(.zero)).contains(.end))
        _ = machine.on(.tick, at: at(.seconds(40)))
        expect(machine.on(.readFailed(isLasting: false), at: at(.seconds(40))).contains(.end))
        var other = self.machine(.onePass(limit: nil))
        _ = other.on(.tick, at: at(.zero))
        expect(other.on(.readFailed(isLasting: true), at: at(.zero)).contains(.end))
    }

    @Test func forEverAFaultIsOnlyWaitedFor() {
        var machine = machine()
        _ = machine.on(.tick, at: at(.zero))
        _ = machine.on(.readFailed(isLasting: true), at: at(.zero))
        #expect(machine.isInSession)
        expect(machine.on(.tick, at: at(.seconds(1))).isEmpty)
        let actions = machine.on(.tick, at: at(.seconds(5)))
        #expect(actions.contains { if case .read = $0 { true } else { false } })
    }
}
