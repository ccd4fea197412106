import Synchronization

/// Lets one task wait until another signals, or until a time has passed. A signal while nobody
/// waits is kept; several are one.
final class AsyncEvent: Sendable {
    private struct State {
        var isSignalled = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func signal() {
        let waiter = state.withLock { state in
            let waiter = state.waiter.take()
            state.isSignalled = waiter == nil
            return waiter
        }
        waiter?.resume()
    }

    /// Forgets a signal that was kept.
    func reset() { state.withLock { $0.isSignalled = false } }

    /// Waits for a signal, for so long at most, or until the task is cancelled.
    ///
    /// - Returns: whether it was a signal.
    @discardableResult
    func wait(upTo limit: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await self.waitForSignal()
                return true
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
            let isSignal = await group.next()
            group.cancelAll()
            return isSignal ?? false
        }
    }

    private func waitForSignal() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.isSignalled || Task.isCancelled {
                        state.isSignalled = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume()
        }
    }
}
