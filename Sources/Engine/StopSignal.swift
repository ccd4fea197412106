import Synchronization

/// Cuts work short from outside, once and for all.
final class StopSignal: Sendable {
    private let isRaised = Mutex(false)
    private let wakeUp = AsyncEvent()

    func raise() {
        isRaised.withLock { $0 = true }
        wakeUp.signal()
    }

    /// Runs until the work is done, or is cancelled because the sign was raised. For one at a time.
    func cutting(_ work: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { race in
            race.addTask { await work() }
            race.addTask { await self.waitUntilRaised() }
            await race.next()
            race.cancelAll()
        }
    }

    private func waitUntilRaised() async {
        while !Task.isCancelled, !isRaised.withLock({ $0 }) {
            await wakeUp.wait(upTo: .seconds(60))
        }
    }
}
