import Daemon
import Engine
import Logging
import Renewal
import Testing

/// The sentence of `systemctl status`.
struct StateTests {
    private func state(_ phase: DaemonState.Phase) -> DaemonState {
        var state = DaemonState()
        state.phase = phase
        state.apps = 3
        state.report.checked = 1204
        state.report.events = 1
        state.inFlight = 12
        return state
    }

    @Test func readsLikeASentence() {
        #expect(
            state(.working).sentence
                == "Serving 3 apps: 1204 purchases checked, 1 event written, 12 in flight.")
        #expect(state(.stopping).sentence == "Stopping: finishing 12 checks in flight.")
        #expect(
            state(.waiting("it cannot be reached")).sentence
                == "Waiting for the database: it cannot be reached.")
    }

    @Test func tellsWhatAPersonShouldKnow() {
        var state = state(.working)
        state.stuck = ["the leases"]
        state.refusedFaults = 2
        state.waitingForRestart = ["database.url"]
        #expect(
            state.sentence.hasSuffix(
                "12 in flight. Stuck: the leases. The changed configuration has 2 "
                    + "faults; the old one stays in force. A restart is needed for database.url."))
    }

    @Test func aPartThatIsLateIsOverdueUntilItMovesOrRests() {
        let heartbeat = Heartbeat()
        heartbeat.expect(.leases, within: .zero)
        heartbeat.expect(.commits, within: .seconds(3600))
        #expect(heartbeat.overdue(at: .now + .seconds(1)) == [.leases])
        heartbeat.expect(.leases, within: .seconds(3600))
        #expect(heartbeat.overdue(at: .now + .seconds(1)).isEmpty)
        heartbeat.expect(.leases, within: .zero, unless: true)
        heartbeat.rest(.commits)
        #expect(heartbeat.overdue(at: .now + .seconds(7200)).isEmpty)
    }
}
