import Renewal
import Testing

@testable import Engine

/// A queue makes fewer calls when its store asks for that.
@Suite struct ThrottlingTests {
    private let start = ContinuousClock.now

    private func at(_ time: Duration) -> ContinuousClock.Instant { start + time }

    @Test func fewerCallsAtOnceAndMoreAgainLittleByLittle() {
        var pace = CallPace()
        #expect(pace.interval(.milliseconds(20)) == .milliseconds(20))
        pace.throttled(at: at(.zero))
        #expect(pace.share == CallPace.cut)
        for second in 1...15 { pace.answered(at: at(.seconds(second))) }
        #expect(pace.share > 0.85 && pace.share < 0.95, "\(pace.share)")
        for second in 16...30 { pace.answered(at: at(.seconds(second))) }
        #expect(pace.share == 1)
    }

    @Test func timeWithoutAnAnswerProvesNothing() {
        var pace = CallPace()
        pace.throttled(at: at(.zero))
        pace.answered(at: at(.hours(3)))
        #expect(pace.share < CallPace.cut + 0.02)
        // Nor does a clock that was set back.
        pace.answered(at: at(.seconds(1)))
        #expect(pace.share < CallPace.cut + 0.02)
    }

    @Test func aCallNowAndThenIsAlwaysMade() {
        var pace = CallPace()
        for second in 0..<100 { pace.throttled(at: at(.seconds(second))) }
        #expect(pace.share == CallPace.leastShare)
    }

    /// A store that bears so much of the calls that are configured, by the second, and is silent for
    /// two seconds after each 429.
    @Test(arguments: [0.1, 0.3, 0.6, 0.95])
    func findsWhatTheStoreBears(share: Double) {
        let perSecond = 50.0
        var pace = CallPace()
        var (answered, refused, inSecond) = (0, 0, 0)
        var (time, second) = (Duration.zero, Duration.zero)
        while time < .minutes(30) {
            if time - second >= .seconds(1) { (second, inSecond) = (time, 0) }
            inSecond += 1
            if Double(inSecond) > share * perSecond {
                refused += 1
                pace.throttled(at: at(time))
                time += .seconds(2)
            } else {
                answered += 1
                pace.answered(at: at(time))
                time += pace.interval(.seconds(1) / perSecond)
            }
        }
        let possible = share * perSecond * 1800
        #expect(Double(answered) > 0.7 * possible, "\(answered) of \(possible)")
        #expect(refused < 120, "\(refused) of \(answered) were refused")
    }

    @Test func theQueueReservesItsCallsFartherApart() {
        let world = World()
        var machine = QueueMachine(
            .forever,
            QueueMachine.Limits(
                inFlight: 20, poll: .seconds(1), patience: .seconds(30),
                interval: .milliseconds(100)),
            at: start)
        machine.begin(at: start)
        _ = machine.on(.tick, at: start)
        let claims = (0..<20).map { _ in world.makeClaim() }
        _ = machine.on(.read(claims), at: start)
        _ = machine.on(.kept(claims, fresh: 20), at: start)
        _ = machine.on(
            .reserved(
                .granted(in: .zero, until: .someTime), calls: 8, sent: start, answered: start),
            at: start)
        _ = machine.on(.slots(1), at: start)
        let actions = machine.on(
            .answered(.failure(.throttled(retryAfter: nil)), since: start, jitter: 1),
            at: at(.milliseconds(50)))
        #expect(actions.contains(.paceMoved))
        #expect(machine.circuit.position == .open)
        #expect(machine.pace.share == CallPace.cut)

        let later = machine.on(.tick, at: at(.seconds(10)))
        guard case .reserve(let calls, let stretch)? = later.last(where: { $0.isReservation })
        else {
            Issue.record("nothing is reserved")
            return
        }
        let paced = Duration.milliseconds(100) / CallPace.cut
        #expect(stretch >= paced * calls && stretch < (paced + .milliseconds(1)) * calls * 1.2)
        // The configuration counts again when it has changed.
        var limits = machine.limits
        limits.interval = .milliseconds(50)
        let changed = machine.on(.limits(limits), at: at(.seconds(11)))
        #expect(changed.contains(.paceMoved))
        #expect(machine.pace.share == 1)
    }
}
