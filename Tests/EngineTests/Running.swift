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
