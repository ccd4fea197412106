import Synchronization

/// Who may use a connection: one call or one whole transaction at a time, first come first served.
///
/// An actor alone does not give this, because a transaction's body may suspend.
final class Turns: Sendable {
    /// A turn of one connection.
    struct Turn: Hashable {
        fileprivate let owner: ObjectIdentifier
        fileprivate let number: UInt64
    }

    private struct State {
        var lastNumber: UInt64 = 0
        var holder: UInt64?
        var queue: [(number: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
        /// Cancelled before they had queued.
        var abandoned: Set<UInt64> = []
    }

    private let state = Mutex(State())

    /// The turns of the transactions inside which this task runs.
    @TaskLocal static var held: Set<Turn> = []

    /// Whether this task runs inside a transaction of this connection.
    var isHeldByThisTask: Bool {
        let holder = state.withLock { $0.holder }
        return holder.map { Self.held.contains(turn($0)) } ?? false
    }

    /// Waits for a turn.
    ///
    /// - Returns: the turn, to be given back; nil inside a transaction, which has it already.
    /// - Throws: `.cancelled` when the task is cancelled while waiting.
    func enter(
        isolation: isolated (any Actor)? = #isolation
    ) async throws(PostgresError) -> Turn? {
        if isHeldByThisTask { return nil }
        let (number, isFree) = state.withLock { state in
            state.lastNumber += 1
            if state.holder == nil { state.holder = state.lastNumber }
            return (state.lastNumber, state.holder == state.lastNumber)
        }
        if isFree { return turn(number) }
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { queue(number, $0) }
        } onCancel: {
            abandon(number)
        }
        guard isMine else { throw .cancelled }
        return turn(number)
    }

    /// Gives the turn to the next in the queue.
    func leave(_ turn: Turn?) {
        guard let turn else { return }
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            precondition(state.holder == turn.number, "a turn is given back by its holder")
            guard !state.queue.isEmpty else {
                state.holder = nil
                return nil
            }
            let (number, continuation) = state.queue.removeFirst()
            state.holder = number
            return continuation
        }
        next?.resume(returning: true)
    }

    private func queue(_ number: UInt64, _ continuation: CheckedContinuation<Bool, Never>) {
        let answer: Bool? = state.withLock { state in
            if state.abandoned.remove(number) != nil { return false }
            if state.holder == nil {
                state.holder = number
                return true
            }
            state.queue.append((number, continuation))
            return nil
        }
        if let answer { continuation.resume(returning: answer) }
    }

    private func abandon(_ number: UInt64) {
        let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if let index = state.queue.firstIndex(where: { $0.number == number }) {
                return state.queue.remove(at: index).continuation
            }
            if state.holder != number { state.abandoned.insert(number) }
            return nil
        }
        continuation?.resume(returning: false)
    }

    private func turn(_ number: UInt64) -> Turn {
        Turn(owner: ObjectIdentifier(self), number: number)
    }
}
