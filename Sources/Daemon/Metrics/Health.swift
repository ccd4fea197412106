import Synchronization

/// Whether the daemon is alive and at work, for whoever asks over HTTP.
package final class Health: Sendable {
    package enum Stage: Hashable, Sendable {
        case starting, working, stopping
    }

    private struct State {
        var stage = Stage.starting
        var pulseAt = ContinuousClock.now
        /// Since when the database has not answered.
        var databaseLostAt: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// Without a sign of life for so long, the program is stuck.
    static let pulseLimit = Duration.seconds(30)

    package init() {}

    package func enter(_ stage: Stage) { state.withLock { $0.stage = stage } }

    /// A sign of life.
    package func pulse() { state.withLock { $0.pulseAt = .now } }

    package func databaseAnswers(_ answers: Bool) {
        state.withLock { state in
            if answers {
                state.databaseLostAt = nil
            } else if state.databaseLostAt == nil {
                state.databaseLostAt = .now
            }
        }
    }

    /// What is wrong with the process itself, where a restart would help; nil when it is well.
    package func complaint(at now: ContinuousClock.Instant = .now) -> String? {
        let silence = now - state.withLock(\.pulseAt)
        return silence > Self.pulseLimit
            ? "no progress for \(silence.components.seconds) s" : nil
    }

    /// Why no purchase is checked now; nil when they are.
    package func reasonToWait(at now: ContinuousClock.Instant = .now) -> String? {
        if let complaint = complaint(at: now) { return complaint }
        return state.withLock { state in
            switch state.stage {
            case .starting: "waiting for the database"
            case .stopping: "stopping"
            case .working: state.databaseLostAt.map { _ in "the database does not answer" }
            }
        }
    }
}
