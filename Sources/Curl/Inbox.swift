import CCurl
import Synchronization

typealias Answer = Result<HTTPResponse, CurlError>

/// One call of `send`, known to both sides.
final class Job: Sendable {
    let request: HTTPRequest
    let startedAt = ContinuousClock.now
    private let cancelled = Atomic(false)

    init(_ request: HTTPRequest) {
        self.request = request
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Not positive when it is too late.
    var timeLeft: Duration { request.deadline - (ContinuousClock.now - startedAt) }

    /// Comes before the message about it, so that a job which is not started yet never is.
    func markCancelled() {
        cancelled.store(true, ordering: .releasing)
    }
}

/// What the callers' side tells the loop, and the only state that threads share.
final class Inbox: Sendable {
    struct Start {
        let job: Job
        let continuation: CheckedContinuation<Answer, Never>
    }

    struct Mail {
        var starts: [Start] = []
        var cancels: [Job] = []
        var isClosing = false
    }

    private struct State {
        var mail = Mail()
        var closers: [CheckedContinuation<Void, Never>] = []
        /// Set from the first message after a `take` to the next one: one wake-up is enough.
        var isWoken = false
        /// `nil` once the loop has ended. Used under the lock only, so it is never used too late.
        var multi: UnsafeMutableRawPointer?

        mutating func wake() {
            guard !isWoken, let multi else { return }
            isWoken = true
            curl_multi_wakeup(multi)
        }
    }

    private let state: Mutex<State>

    init(waking multi: sending UnsafeMutableRawPointer) {
        state = Mutex(State(multi: multi))
    }

    func start(_ job: Job, _ continuation: CheckedContinuation<Answer, Never>) {
        let isAccepted = state.withLock { state in
            guard state.multi != nil, !state.mail.isClosing else { return false }
            state.mail.starts.append(Start(job: job, continuation: continuation))
            state.wake()
            return true
        }
        if !isAccepted { continuation.resume(returning: .failure(.cancelled)) }
    }

    func cancel(_ job: Job) {
        job.markCancelled()
        state.withLock { state in
            guard state.multi != nil else { return }
            state.mail.cancels.append(job)
            state.wake()
        }
    }

    /// - Parameter continuation: resumed when the loop has ended.
    func close(_ continuation: CheckedContinuation<Void, Never>?) {
        let isEnded = state.withLock { state in
            guard state.multi != nil else { return true }
            state.mail.isClosing = true
            if let continuation { state.closers.append(continuation) }
            state.wake()
            return false
        }
        if isEnded { continuation?.resume() }
    }

    /// Everything since the last call. For the loop.
    func take() -> Mail {
        state.withLock { state in
            let mail = state.mail
            state.mail = Mail(isClosing: mail.isClosing)
            state.isWoken = false
            return mail
        }
    }

    /// Frees the handle that `wake` uses, after which nothing is accepted. For the loop.
    func end(freeing multi: UnsafeMutableRawPointer) {
        state.withLock { $0.multi = nil }
        curl_multi_cleanup(multi)
        let closers = state.withLock { state in
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }
}
