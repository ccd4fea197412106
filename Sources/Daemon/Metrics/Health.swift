package import Renewal
import Synchronization

/// Whether the daemon is alive and at work, for whoever asks over HTTP.
package final class Health: Sendable {
    package enum Stage: Hashable, Sendable {
        case starting, working, stopping
    }

    private struct State {
        var stage = Stage.starting
        var pulseAt = ContinuousClock.now
        /// Why the database is of no use now.
        var databaseTrouble: String?
        /// Why what is due cannot be read, and when that was seen.
        var readTrouble: (reason: String, at: ContinuousClock.Instant)?
        /// Why its schema does not fit, by the latest beat.
        var misfit: String?
    }

    private let state = Mutex(State())

    /// Without a sign of life for so long, the program is stuck.
    static let pulseLimit = Duration.seconds(30)
    /// What could not be read for so long, and was not tried again, is no trouble any more.
    private static let readLimit = Duration.seconds(60)

    package init() {}

    package func enter(_ stage: Stage) { state.withLock { $0.stage = stage } }

    /// A sign of life.
    package func pulse() { state.withLock { $0.pulseAt = .now } }

    package func databaseAnswers() { state.withLock { $0.databaseTrouble = nil } }

    /// What is due was read, or could not be: other work may be done all the same.
    package func readsWhatIsDue(
        failing error: LedgerError? = nil, at now: ContinuousClock.Instant = .now
    ) {
        state.withLock { state in
            switch error {
            case nil: state.readTrouble = nil
            case .cancelled, .noLongerValid: break
            case .some: state.readTrouble = ("the database does not give what is due", now)
            }
        }
    }

    /// Only the next beat, which looks at it, says that the schema fits again.
    package func schemaFits() { state.withLock { $0.misfit = nil } }

    /// Whoever asks need not log in: what is told names no object of the database.
    package func databaseFailed(_ error: LedgerError) {
        state.withLock { state in
            switch error {
            case .schemaVersion, .schemaMissing: state.misfit = error.sentence
            case .noLongerValid, .cancelled: state.databaseTrouble = nil
            case .unavailable: state.databaseTrouble = "the database is not available"
            case .citusMissing, .encoding, .schemaDiffers, .forbidden, .refused, .undecodable,
                .unreadableUser, .eventsLost, .keysMissing:
                state.databaseTrouble = "the database does not give what is needed: see the log"
            }
        }
    }

    /// What is wrong with the process itself, where a restart would help; nil when it is well.
    package func complaint(at now: ContinuousClock.Instant = .now) -> String? {
        let silence = now - state.withLock { $0.pulseAt }
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
            case .working:
                state.misfit ?? state.databaseTrouble
                    ?? state.readTrouble.flatMap { $0.at + Self.readLimit > now ? $0.reason : nil }
            }
        }
    }
}
