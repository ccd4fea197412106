import Engine
import LedgerModel
import Logging
import Renewal
import ServiceLifecycleTestKit
import Synchronization
import TestSupport

/// One process: the real engine, whose every way out leads through a door at which it may be killed
/// or stopped. Beyond the door at which it was killed it can do nothing any more.
final class Worker: Sendable {
    private struct State {
        var isDead = false
        var stalledUntil: Timestamp?
        /// So many doors further it is killed.
        var doorsLeft: Int?
        /// So many doors further it is told to stop.
        var doorsToStop: Int?
        var task: Task<Void, Never>?
        var stop: (@Sendable () -> Void)?

        mutating func stopAtThisDoor() -> (@Sendable () -> Void)? {
            guard !isDead, let left = doorsToStop else { return nil }
            doorsToStop = left > 1 ? left - 1 : nil
            return left > 1 ? nil : stop
        }
    }

    let number: Int
    private let state = Mutex(State())
    private let tally: Tally

    init(_ number: Int, _ tally: Tally) {
        self.number = number
        self.tally = tally
    }

    /// Kills it at its so many next door.
    func kill(afterDoors doors: Int) { state.withLock { $0.doorsLeft = doors } }

    /// As SIGTERM at its so many next door: it ends what it has in hand and gives back what it
    /// holds.
    func stop(afterDoors doors: Int) { state.withLock { $0.doorsToStop = doors } }

    /// As SIGSTOP does, until the time has come.
    func stall(until time: Timestamp) { state.withLock { $0.stalledUntil = time } }

    /// Whether it lives beyond this door.
    func pass() async -> Bool {
        let (stalled, killed) = state.withLock { state -> (Timestamp?, Task<Void, Never>?) in
            guard !state.isDead else { return (nil, nil) }
            if let left = state.doorsLeft {
                state.doorsLeft = left - 1
                state.isDead = left <= 1
            }
            return (state.stalledUntil, state.isDead ? state.task : nil)
        }
        if let killed {
            tally.count(.crash)
            killed.cancel()
        }
        if let stop = state.withLock({ $0.stopAtThisDoor() }) {
            tally.count(.stop)
            stop()
        }
        if let stalled, stalled > World.now { await World.wait(until: stalled) }
        return !state.withLock(\.isDead)
    }

    /// Runs the engine until it is killed.
    func run(_ settings: EngineSettings, _ services: EngineServices) async {
        let log = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }
        let engine = RenewalEngine(settings, services, log: log)
        let task = Task.detached {
            await testGracefulShutdown { [self] trigger in
                state.withLock { $0.stop = { trigger.triggerGracefulShutdown() } }
                await withTaskCancellationHandler {
                    _ = try? await engine.run()
                } onCancel: {
                    trigger.triggerGracefulShutdown()
                }
            }
        }
        state.withLock { $0.task = task }
        if state.withLock(\.isDead) { task.cancel() }
        await task.value
    }

    /// Ends it, unless that has happened.
    func end() {
        state.withLock { state in
            state.isDead = true
            return state.task
        }?.cancel()
    }
}

/// How often what should sometimes happen has happened.
final class Tally: Sendable {
    enum What: String, CaseIterable, Sendable {
        case crash = "crashes"
        case stop = "stops in order"
        case stall = "stalls"
        case takeover = "shards taken over"
        case suspect = "suspects"
        case move = "moves to another user"
        case lostCommit = "lost commits"
        case dropped = "answers dropped"
        case doubt = "doubts"
        case superseded = "chains"
        case throttled = "429 heard"
        case quotaReturned = "quota given back"
        case grant = "grants"
        case revoke = "revokes"
        case notice = "notices"
        case check = "checks"
        case stale = "stale answers"
        case woken = "hints that woke"
        case believed = "lies believed"
        case trip = "breaker trips"
        case held = "revokes held"
        case swept = "made due by a sweep"
    }

    private let counts = Mutex<[What: Int]>([:])

    func count(_ what: What, _ times: Int = 1) {
        counts.withLock { $0[what, default: 0] += times }
    }

    var all: [What: Int] { counts.withLock(\.self) }
}
