import Synchronization

/// Cuts work short from outside, once and for all.
final class StopSign: Sendable {
    private let isRaised = Mutex(false)
    private let bell = Doorbell()

    func raise() {
        isRaised.withLock { $0 = true }
        bell.ring()
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
            await bell.wait(upTo: .seconds(60))
        }
    }
}
