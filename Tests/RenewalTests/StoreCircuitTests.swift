import Renewal
import TestSupport
import Testing

/// An outage costs a few calls, not a storm.
@Suite struct StoreCircuitTests {
    private static let start = TestCalendar.start

    /// Asks at every tenth of a second of an hour in which each call fails at once.
    private func calls(_ failure: StoreFailure, jitter: () -> Double) -> (Int, StoreCircuit) {
        var circuit = StoreCircuit()
        var calls = 0
        for tenth in 0..<36_000 {
            let now = Self.start + .milliseconds(100) * tenth
            guard circuit.admits(at: now) else { continue }
            calls += 1
            circuit.failed(failure, startedAt: now, at: now, jitter: jitter())
        }
        return (calls, circuit)
    }

    /// How many of three calls may start.
    private func admissions(_ circuit: inout StoreCircuit, at now: Timestamp) -> Int {
        var count = 0
        for _ in 0..<3 where circuit.admits(at: now) { count += 1 }
        return count
    }

    @Test(arguments: [0, 0.5, 0.999])
    func anHourOfOutageCostsFewCalls(_ jitter: Double) {
        for failure in [
            StoreFailure.unreachable(reason: "time-out"), .malformed(field: "body"),
            .signature(reason: "chain"),
        ] {
            // Five to open it, six of growing pauses, then one in half a minute at most.
            #expect((60...130).contains(calls(failure) { jitter }.0))
        }
    }

    /// What a store says of one purchase in words that nobody knows keeps nobody else waiting.
    @Test(arguments: [
        ("productType", false), ("data.signedTransactionInfo.expiresDate", false),
        ("status", false),
        ("body", true), ("body over 1 bytes", true), ("status 418", true),
        ("redirect, status 302", true),
    ])
    func aMemberThatCannotBeReadIsOfOnePurchase(_ field: String, opens: Bool) {
        var circuit = StoreCircuit()
        for _ in 0..<300 {
            circuit.failed(
                .malformed(field: field), startedAt: Self.start, at: Self.start, jitter: 0.5)
        }
        #expect(circuit.wouldAdmit(at: Self.start) != opens)
    }

    @Test func refusedCredentialsAreTriedOnceAMinute() {
        #expect((60...66).contains(calls(.refused(reason: "401")) { 0 }.0))
    }

    /// Other credentials may be there after a reload. That a store wants no calls stays so.
    @Test(arguments: [
        (StoreFailure.refused(reason: "401"), 1), (.throttled(retryAfter: .minutes(1)), 0),
        (.unreachable(reason: "reset"), 0),
    ])
    func refusedCredentialsAreTriedAtOnceAfterAReload(_ failure: StoreFailure, _ calls: Int) {
        var circuit = StoreCircuit()
        for _ in 0..<StoreCircuit.failureLimit {
            circuit.failed(failure, startedAt: Self.start, at: Self.start, jitter: 0.5)
        }
        let now = Self.start + .milliseconds(500)
        #expect(admissions(&circuit, at: now) == 0)
        circuit.retry(at: now)
        #expect(admissions(&circuit, at: now) == calls)
    }

    @Test func oneThrottledAnswerIsBelieved() {
        #expect(calls(.throttled(retryAfter: .minutes(10))) { 0 }.0 == 6)
    }

    /// Calls that were under way together are refused together: that is one refusal.
    @Test func aBurstOfThrottledAnswersPausesAsOneDoes() {
        var circuit = StoreCircuit()
        for _ in 0..<40 {
            circuit.failed(
                .throttled(retryAfter: nil), startedAt: Self.start, at: Self.start, jitter: 0.999)
        }
        #expect(circuit.wouldAdmit(at: Self.start + .seconds(2)))
        circuit.failed(
            .throttled(retryAfter: .seconds(30)), startedAt: Self.start, at: Self.start, jitter: 0)
        #expect(!circuit.wouldAdmit(at: Self.start + .seconds(29)))
        #expect(circuit.wouldAdmit(at: Self.start + .seconds(30)))
    }

    /// A probe that is refused is a refusal of its own: the pauses grow to a minute and a bit.
    @Test func eachThrottledProbePausesForLonger() {
        var circuit = StoreCircuit()
        var (now, pauses) = (Self.start, [Duration]())
        circuit.failed(.throttled(retryAfter: nil), startedAt: now, at: now, jitter: 1)
        for _ in 0..<7 {
            let until = circuit.opensUntil ?? now
            pauses.append(until - now)
            now = until
            #expect(admissions(&circuit, at: now) == 1)
            circuit.failed(.throttled(retryAfter: nil), startedAt: now, at: now, jitter: 1)
        }
        #expect(pauses == [2, 4, 8, 16, 32, 64, 64].map { .seconds($0) })
    }

    @Test(arguments: [
        StoreFailure.mismatch(what: "app"), .rejected(reason: "400"), .unsupported(reason: "none"),
    ])
    func whatIsOnePurchasesOwnNeverOpensIt(_ failure: StoreFailure) {
        #expect(calls(failure) { 0 }.0 == 36_000)
    }

    @Test func anEndedOutageIsSeenWithinAMinute() {
        var circuit = calls(.unreachable(reason: "time-out")) { 0.999 }.1
        let now = Self.start + .hours(1) + .seconds(64)
        #expect(circuit.wouldAdmit(at: now))
        #expect(admissions(&circuit, at: now) == 1)
        circuit.succeeded(startedAt: now)
        #expect(circuit.position == .closed)
        #expect(admissions(&circuit, at: now) == 3)
    }

    @Test func asksOneAtATimeWhileOpen() {
        var circuit = StoreCircuit()
        for _ in 0..<StoreCircuit.failureLimit {
            circuit.failed(
                .unreachable(reason: "time-out"), startedAt: Self.start, at: Self.start, jitter: 0)
        }
        #expect(circuit.position == .open)
        #expect(admissions(&circuit, at: Self.start) == 0)
        let later = Self.start + .minutes(2)
        #expect(circuit.wouldAdmit(at: later))
        #expect(admissions(&circuit, at: later) == 1)
        circuit.abandonProbe()
        #expect(admissions(&circuit, at: later) == 1)
    }

    @Test func callsThatFailTogetherOpenItOnce() {
        var circuit = StoreCircuit()
        for _ in 0..<200 where circuit.admits(at: Self.start) || circuit.position == .open {
            circuit.failed(
                .unreachable(reason: "reset"), startedAt: Self.start, at: Self.start, jitter: 0.999)
        }
        #expect(circuit.wouldAdmit(at: Self.start + .seconds(4)))
    }

    /// What the store said before it asked for fewer calls takes nothing of that back.
    @Test func whatWasUnderWayWhenItOpenedNeitherClosesItNorEndsAProbe() {
        var circuit = StoreCircuit()
        let now = Self.start
        circuit.failed(.throttled(retryAfter: nil), startedAt: now, at: now, jitter: 1)
        circuit.succeeded(startedAt: now - .milliseconds(20))
        #expect(circuit.position == .open)
        #expect(admissions(&circuit, at: now + .seconds(2)) == 1)
        let outage = StoreFailure.unreachable(reason: "time-out")
        for failure in [outage, .rejected(reason: "400")] {
            circuit.failed(failure, startedAt: now, at: now + .seconds(3), jitter: 1)
        }
        circuit.succeeded(startedAt: now)
        #expect(circuit.position == .probing)
        #expect(admissions(&circuit, at: now + .seconds(3)) == 0)
        circuit.succeeded(startedAt: now + .seconds(2))
        for _ in 0..<StoreCircuit.failureLimit {
            circuit.failed(outage, startedAt: now, at: now + .seconds(30), jitter: 1)
        }
        #expect(circuit.position == .closed, "those that time out later are of before, too")
    }

    @Test func anAnswerBetweenFailuresKeepsItClosed() {
        var circuit = StoreCircuit()
        for _ in 0..<100 {
            for _ in 1..<StoreCircuit.failureLimit {
                circuit.failed(
                    .unreachable(reason: "time-out"), startedAt: Self.start, at: Self.start,
                    jitter: 0)
            }
            circuit.succeeded(startedAt: Self.start)
        }
        #expect(circuit.position == .closed)
    }
}

@Suite struct RetryDelayTests {
    @Test func growsAndIsCapped() {
        var last = Duration.zero
        for attempts in 0...200 {
            let longest = Duration.microseconds(
                retryDelay(attempts: attempts, jitter: 1).microseconds)
            #expect(longest >= last && longest <= .hours(1))
            #expect(retryDelay(attempts: attempts, jitter: 0) == .seconds(5))
            last = longest
        }
        #expect(retryDelay(attempts: 1, jitter: 1) == .seconds(10))
        #expect(last == .hours(1))
    }
}
