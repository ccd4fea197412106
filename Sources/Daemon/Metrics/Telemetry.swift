import Engine
import Ledger
import Renewal
import Synchronization

/// What is measured and watched over the life of the process, also over reloads.
package final class Telemetry: Sendable {
    package let metrics: DaemonMetrics
    package let health = Health()
    let clock = DatabaseClock()
    /// Apps whose circuit is not closed.
    private let openCircuits = Mutex<Set<AppKey>>([])

    package init() {
        metrics = DaemonMetrics(startedAt: WallClock.now())
    }

    package var pages: MetricsPages { MetricsPages(registry: metrics.registry, health: health) }

    func circuitMoved(_ app: AppKey, _ position: StoreCircuit.Position) {
        metrics.circuitMoved(app, position)
        openCircuits.withLock { open in
            if position == .closed { open.remove(app) } else { open.insert(app) }
        }
    }

    var appsWithOpenCircuit: Set<AppKey> { openCircuits.withLock { $0 } }
}

/// Looks at the queue from time to time, for the figures, and shows that the program is alive.
struct QueueWatch: Sendable {
    let ledger: PostgresLedger
    let telemetry: Telemetry
    /// As it is configured now.
    let safety: @Sendable () -> BreakerPolicy

    private static let pulse = Duration.seconds(1)
    /// The queue is looked at once in so many pulses, and more rarely where there are many apps:
    /// each costs a probe for every shard.
    private static let pulsesPerLook = 10
    private static let appsPerLook = 100
    /// What others are told of an open circuit holds for two looks.
    private static let circuitNote = Duration.seconds(20)

    /// Runs until it is cancelled.
    func run() async {
        var (pulses, pulsesToLook) = (0, 0)
        while !Task.isCancelled {
            telemetry.health.pulse()
            if pulses % Self.pulsesPerLook == 0 { await noteCircuits() }
            if pulses == pulsesToLook {
                let apps = await look()
                pulsesToLook += Self.pulsesPerLook * (1 + apps / Self.appsPerLook)
            }
            pulses += 1
            try? await Task.sleep(for: Self.pulse)
        }
    }

    /// A database that does not answer is told of elsewhere.
    ///
    /// - Returns: the number of apps.
    private func look() async -> Int {
        do {
            let depth = try await ledger.queueDepth()
            for app in depth.apps {
                telemetry.metrics.queueRead(
                    app.key, due: app.due, oldest: app.oldest, backfill: app.backfill)
            }
            for refunds in try await ledger.refundStatus() {
                telemetry.metrics.refundsRead(
                    refunds.app, open: refunds.open, nearestDeadline: refunds.nearestDeadline)
            }
            telemetry.metrics.queueRead(at: WallClock.now())
            let safety = safety()
            for standing in try await ledger.breakers(window: safety.window) {
                telemetry.metrics.breakerRead(
                    standing.app, isTripped: standing.breaker(under: safety).isTripped,
                    held: standing.waiting)
            }
            return depth.apps.count
        } catch {
            telemetry.metrics.databaseFailed("watch")
            return 0
        }
    }

    private func noteCircuits() async {
        do {
            for app in telemetry.appsWithOpenCircuit {
                try await ledger.block(BucketID(ofCircuitOf: app), for: Self.circuitNote)
            }
        } catch {
            telemetry.metrics.databaseFailed("watch")
        }
    }
}
