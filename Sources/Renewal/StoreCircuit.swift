/// Whether an app's store is asked at all: after a row of failures that are not one purchase's
/// own, single probes only, so that an outage costs a few calls and not a storm. Pure. How fast a
/// store is asked that has asked for fewer calls is in `Engine/Throttling.swift`.
package struct StoreCircuit: Hashable, Sendable {
    package enum Position: String, Hashable, Sendable { case closed, open, probing }

    package private(set) var position = Position.closed
    package private(set) var opensUntil: Timestamp?
    private var failures = 0
    private var openings = 0
    /// When it opened last. What was under way then says nothing new, however late it comes.
    private var openedAt: Timestamp?
    /// Whether the credentials were refused last.
    private var isRefused = false

    /// Failures in a row that open it.
    package static let failureLimit = 5
    private static let firstPause = Duration.seconds(2)
    private static let longestPause = Duration.minutes(1)

    package init() {}

    /// Whether `admits` would say yes.
    package func wouldAdmit(at now: Timestamp) -> Bool {
        var copy = self
        return copy.admits(at: now)
    }

    /// Whether a call may start now. While open, one probe at a time once the pause is over.
    package mutating func admits(at now: Timestamp) -> Bool {
        switch position {
        case .closed: return true
        case .probing: return false
        case .open:
            guard let until = opensUntil, until <= now else { return false }
            position = .probing
            return true
        }
    }

    /// The configuration was read anew: where the credentials were refused, others may be there
    /// now, and a probe may start at once.
    package mutating func retry(at now: Timestamp) {
        if position == .open, isRefused { opensUntil = now }
    }

    /// A call that was admitted has ended without saying anything of the store.
    package mutating func abandonProbe() {
        if position == .probing { position = .open }
    }

    /// A call that was admitted has been answered.
    ///
    /// - Parameter startedAt: when it began, by the clock that `admits` is asked with.
    package mutating func succeeded(startedAt: Timestamp) {
        guard !isOld(startedAt) else { return }
        let openedAt = openedAt
        self = StoreCircuit()
        self.openedAt = openedAt
    }

    /// A call that was admitted has failed.
    ///
    /// - Parameters:
    ///   - failure: only what concerns the whole app counts.
    ///   - startedAt: when it began, by the clock that `admits` is asked with.
    ///   - now: by the same clock.
    ///   - jitter: 0 to 1; the pause is drawn from its upper half.
    package mutating func failed(
        _ failure: StoreFailure, startedAt: Timestamp, at now: Timestamp, jitter: Double
    ) {
        guard !isOld(startedAt) else {
            // But how long to wait is news.
            if position != .closed, case .throttled(let retryAfter?) = failure {
                opensUntil = max(opensUntil ?? now, now + retryAfter)
            }
            return
        }
        guard failure.concernsWholeApp else { return abandonProbe() }
        failures += 1
        if case .refused = failure { isRefused = true } else { isRefused = false }
        let opensNow =
            position == .probing || position == .closed && failures >= Self.failureLimit
        var pause = Self.firstPause * (1 << min(openings, 5)) * (0.5 + 0.5 * jitter)
        switch failure {
        case .throttled(let retryAfter):
            // The store has spoken for the whole app: no second call is needed to believe it.
            pause = max(retryAfter ?? pause, pause)
        case .refused:
            guard opensNow else { return }
            pause = Self.longestPause
        case .unreachable, .malformed, .signature, .mismatch, .rejected, .unsupported:
            guard opensNow else { return }
            pause = min(pause, Self.longestPause)
        }
        position = .open
        openings += 1
        openedAt = now
        opensUntil = max(opensUntil ?? now, now + pause)
    }

    private func isOld(_ startedAt: Timestamp) -> Bool {
        openedAt.map { startedAt <= $0 } ?? false
    }
}
