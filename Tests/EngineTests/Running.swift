import Engine
import Renewal
import ServiceLifecycleTestKit

extension RenewalEngine {
    /// Runs for ever, until `body` has ended; then stops in order.
    func run(while body: @escaping @Sendable () async throws -> Void) async throws {
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.run() }
                group.addTask {
                    do {
                        try await body()
                    } catch {
                        trigger.triggerGracefulShutdown()
                        throw error
                    }
                    trigger.triggerGracefulShutdown()
                }
                try await group.waitForAll()
            }
        }
    }
}

/// Lets others go on while that is so, and the test has not lasted too long.
func yield(while isSo: @autoclosure () -> Bool) async {
    while isSo(), !Task.isCancelled { await Task.yield() }
}

/// Lets each of a hundred others have some turns: what has not happened then does not happen.
func letOthersGoOn() async {
    for _ in 0..<1000 { await Task.yield() }
}
