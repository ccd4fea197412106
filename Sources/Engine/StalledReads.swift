import Logging
import Renewal
import Synchronization

/// Whether what is due can be read, and calls for it be reserved. The database may be there and let
/// every other part of the work be done, as while another session holds a table: nothing is checked
/// then, which is to be told.
final class StalledReads: Sendable {
    private struct State {
        var failing: [StandingFaults.Part: Failing] = [:]
        var isTold = false
        /// The leases cannot be kept either, and that has been told.
        var isOfAll = false
    }

    private struct Failing {
        var error: LedgerError
        let since: ContinuousClock.Instant
    }

    private let state = Mutex(State())
    private let log: Logger
    private let mode: RunMode

    /// So long it may be a moment's trouble, of which nobody need know.
    private static let patience = Duration.seconds(15)

    init(mode: RunMode, log: Logger) {
        self.mode = mode
        self.log = log
    }

    /// The part of the work was tried and failed, for a reason that may pass by itself.
    func failed(
        _ error: LedgerError, by part: StandingFaults.Part, at now: ContinuousClock.Instant = .now
    ) {
        guard error != .cancelled else { return }
        let tells = state.withLock { state in
            let since = state.failing[part]?.since ?? now
            state.failing[part] = Failing(error: error, since: since)
            guard mode == .forever, !state.isTold, !state.isOfAll, now - since >= Self.patience
            else { return false }
            state.isTold = true
            return true
        }
        if tells { log.warning(.readsStall(error), metadata: LogField.topic(.readsStall)) }
    }

    /// The part of the work was done, or is not tried any more.
    func ended(_ part: StandingFaults.Part) {
        let isMended = state.withLock { state in
            guard state.failing.removeValue(forKey: part) != nil, state.failing.isEmpty,
                state.isTold
            else { return false }
            state.isTold = false
            return true
        }
        if isMended { log.notice(.readsGoOn, metadata: LogField.topic(.readsGoOn)) }
    }

    /// Whether the database is not there at all: then that is told, and this is not.
    func areOfAll(_ isOfAll: Bool) { state.withLock { $0.isOfAll = isOfAll } }

    /// One of those that still fail, for one pass, which ends with it.
    var any: LedgerError? { state.withLock { $0.failing.values.first?.error } }
}
