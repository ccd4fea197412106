import TestSupport

/// The world goes on: the next turn begins when all that was bought has been seen as granted.
actor Load {
    private(set) var world: KillWorld
    private let watch: CommitWatch
    private var generator: SeededGenerator
    private var isStopped = false

    init(_ world: KillWorld, _ watch: CommitWatch, _ generator: SeededGenerator) {
        (self.world, self.watch, self.generator) = (world, watch, generator)
    }

    func stop() { isStopped = true }

    func run() async throws {
        while !isStopped {
            try Task.checkCancellation()
            let before = watch.count
            var (world, generator) = (self.world, self.generator)
            try await world.turn(using: &generator)
            (self.world, self.generator) = (world, generator)
            let watch = watch
            try await Poll.until("a turn is told", within: .seconds(180), every: .milliseconds(50))
            {
                watch.count > before
            }
        }
    }
}
