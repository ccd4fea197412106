import Synchronization

/// Lets one task wait until another signals, or until a time has passed. A signal while nobody
/// waits is kept; several are one.
final class AsyncEvent: Sendable {
    private struct State {
        var isSignalled = false
        var waiter: CheckedContinuation<Bool, Never>?
    }

    private let state = Mutex(State())

    func signal() {
        let waiter = state.withLock { state in
            let waiter = state.waiter.take()
            state.isSignalled = waiter == nil
            return waiter
        }
        waiter?.resume(returning: true)
    }

    /// Forgets a signal that was kept.
    func reset() { state.withLock { $0.isSignalled = false } }

    /// Waits for a signal, for so long at most, or until the task is cancelled. No signal is lost:
    /// one that comes as the time is over is told, or kept.
    ///
    /// - Returns: whether it was a signal.
    @discardableResult
    func wait(upTo limit: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.waitForSignal() }
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
            var isSignal = false
            for await hasCome in group {
                isSignal = isSignal || hasCome
                group.cancelAll()
            }
            return isSignal
        }
    }

    /// - Returns: whether there was a signal; false when the task was cancelled before.
    private func waitForSignal() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSignal = state.withLock { state -> Bool? in
                    if state.isSignalled {
                        state.isSignalled = false
                        return true
                    }
                    if Task.isCancelled { return false }
                    state.waiter = continuation
                    return nil
                }
                if let isSignal { continuation.resume(returning: isSignal) }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume(returning: false)
        }
    }
}
