import Logging
import Renewal
import Synchronization

/// What the database does not let us do until a person mends something. Each fault is told once,
/// however many parts of the work meet it, and so is its end.
final class StandingFaults: Sendable {
    /// A part of the work that cannot be done.
    enum Part: Hashable, Sendable {
        case apps, look, leases, suspects, commits
        case queue(Int32)
        case quota(AppKey)
        case hints, refunds, sweep
        case hintPages(SourceID)
        /// What is to be stored of one purchase, while that of others is taken.
        case outcome(Int64)
    }

    private let faults = Mutex<[Part: LedgerError]>([:])
    private let log: Logger
    private let mode: RunMode
    let reads: StalledReads

    init(mode: RunMode, log: Logger) {
        self.mode = mode
        self.log = log
        reads = StalledReads(mode: mode, log: log)
    }

    /// - Returns: whether it is a fault that lasts; another one is left to who has met it.
    @discardableResult
    func met(_ error: LedgerError, by part: Part) -> Bool {
        guard error.isLasting else {
            if part.isForChecks { reads.failed(error, by: part) }
            return false
        }
        let isNew = faults.withLock { faults in
            defer { faults[part] = error }
            return !faults.values.contains(error)
        }
        // One pass ends with it: it is told then.
        if isNew, mode == .forever {
            log.error("\(error.sentence)", metadata: LogField.topic(.databaseRefuses))
        }
        return true
    }

    /// The part of the work can be done.
    func ended(_ part: Part) {
        if part.isForChecks { reads.ended(part) }
        let isMended = faults.withLock { faults in
            guard let error = faults.removeValue(forKey: part) else { return false }
            return !faults.values.contains(error)
        }
        if isMended {
            log.notice(.databaseRelents, metadata: LogField.topic(.databaseRelents))
        }
    }

    /// It is not tried any more.
    func forget(_ part: Part) {
        faults.withLock { $0[part] = nil }
        if part.isForChecks { reads.ended(part) }
    }

    /// One of those that last, or in the way of which nothing could be read, for who ends with it.
    var any: LedgerError? { faults.withLock { $0.values.first } ?? reads.any }
}

extension StandingFaults.Part {
    /// Whether nothing of an app is checked without it.
    fileprivate var isForChecks: Bool {
        switch self {
        case .look, .queue, .quota: true
        default: false
        }
    }
}
