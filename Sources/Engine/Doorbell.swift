import Synchronization

/// Lets one task wait until another rings, or until a time has passed. A ring while nobody waits is
/// kept; several rings are one.
final class Doorbell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func ring() {
        let waiter = state.withLock { state in
            let waiter = state.waiter.take()
            state.isRung = waiter == nil
            return waiter
        }
        waiter?.resume()
    }

    /// Forgets a ring that was kept.
    func silence() { state.withLock { $0.isRung = false } }

    /// Waits for a ring, for so long at most, or until the task is cancelled.
    ///
    /// - Returns: whether it was a ring.
    @discardableResult
    func wait(upTo limit: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await self.waitForRing()
                return true
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
            let isRing = await group.next()
            group.cancelAll()
            return isRing ?? false
        }
    }

    private func waitForRing() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.isRung || Task.isCancelled {
                        state.isRung = false
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
