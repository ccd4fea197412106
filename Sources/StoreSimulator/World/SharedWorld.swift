import Synchronization

/// The one world, for all who look at it or change it.
final class SharedWorld: Sendable {
    private let world: Mutex<World>

    init(_ world: World) {
        self.world = Mutex(world)
    }

    func withLock<Result, Failure: Error>(
        _ body: (inout sending World) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try world.withLock(body)
    }

    /// The present instant of the simulated clock.
    func now() -> Instant {
        let machine = SimulatedClock.machineNow
        return withLock { $0.now(machine) }
    }
}
