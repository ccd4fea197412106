import Logging
import Renewal
import Synchronization

/// Reads the sources of hints, each at its own pace and by one worker at a time. A hint makes a
/// purchase due and does nothing else; receipts go back to a source only when that is stored.
final class HintRunner: Sendable {
    private let sources: [HintSource]
    private let doors: HintDoors
    private let worker: WorkerID
    private let log: Logger
    /// Sources that have failed, so that it is told once.
    private let failing = Mutex<Set<String>>([])
    private let hasEnded = Mutex(false)
    private let stopBell = Doorbell()

    /// Pages of one turn: then the source rests, however much more there is.
    static let pageLimit = 1000
    /// The longest rest between two looks at a source.
    private static let longestRest = Duration.minutes(1)
    private static let longestBackoff = Duration.minutes(15)

    init?(_ settings: EngineSettings, _ ports: Ports, worker: WorkerID, log: Logger) {
        let wanted = settings.stores
        let sources = ports.hints.filter { wanted.isEmpty || wanted.contains($0.app.store) }
        guard let doors = ports.hintDoors, !sources.isEmpty else { return nil }
        self.sources = sources
        self.doors = doors
        self.worker = worker
        self.log = log
    }

    /// Reads every source once, also before it is due; what another worker reads is left to it. A
    /// long backlog of news must not hold up a pass: what is left is read by the next one.
    func runOnce() async {
        await untilStopped {
            await withTaskGroup(of: Void.self) { race in
                race.addTask { await self.readEachOnce() }
                race.addTask { try? await Task.sleep(for: Self.passLimit) }
                await race.next()
                race.cancelAll()
            }
        }
    }

    /// The longest that one pass reads news.
    private static let passLimit = Duration.seconds(15)

    private func readEachOnce() async {
        await withDiscardingTaskGroup { group in
            for source in sources {
                group.addTask { _ = await self.turn(source, isEarly: true) }
            }
        }
    }

    /// Cuts short what is under way: it is read again later.
    func stop() {
        hasEnded.withLock { $0 = true }
        stopBell.ring()
    }

    /// Reads until `stop`.
    func run() async {
        await untilStopped { await self.readAll() }
    }

    private func untilStopped(_ work: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { race in
            race.addTask { await work() }
            race.addTask { await self.waitForStop() }
            await race.next()
            race.cancelAll()
        }
    }

    private func waitForStop() async {
        while !Task.isCancelled, !hasEnded.withLock({ $0 }) {
            await stopBell.wait(upTo: .seconds(60))
        }
    }

    private func readAll() async {
        await withDiscardingTaskGroup { group in
            for source in sources {
                group.addTask {
                    while !Task.isCancelled {
                        let rest = await self.turn(source, isEarly: false)
                        try? await Task.sleep(
                            for: rest.clamped(.milliseconds(10), Self.longestRest))
                    }
                }
            }
        }
    }

    /// - Returns: how long to leave the source alone.
    private func turn(_ source: HintSource, isEarly: Bool) async -> Duration {
        let lease = source.patience + .seconds(30)
        do throws(PortError) {
            switch try await doors.begin(source, worker, lease, isEarly) {
            case .wait(let rest):
                return max(rest, .milliseconds(100))
            case .mayPull(let position, let failures, let now):
                let failure = try await pull(source, from: position, lease, began: now)
                guard !Task.isCancelled else {
                    // Cut short is no failure: the next one may read on at once.
                    await letGo(source, failures)
                    return .zero
                }
                let rest = rest(of: source, failures + 1, failure)
                tell(source, failure)
                try await doors.end(
                    source, worker, rest, failure == nil ? 0 : failures + 1, failure)
                return rest
            }
        } catch {
            log.debug("hints of \(source.name) wait for the database: \(error.sentence)")
            return min(source.interval, .seconds(5))
        }
    }

    /// In a task of its own, as this one is cancelled.
    private func letGo(_ source: HintSource, _ failures: Int) async {
        let (doors, worker) = (self.doors, self.worker)
        _ = await Task { try? await doors.end(source, worker, .zero, failures, nil) }.value
    }

    /// Pulls until there is no more.
    ///
    /// - Returns: the failure that ended it.
    private func pull(
        _ source: HintSource, from start: String?, _ lease: Duration, began: Timestamp
    ) async throws(PortError) -> StoreFailure? {
        var position = start
        let clock = ContinuousClock.now
        for _ in 0..<Self.pageLimit {
            let now = began + (ContinuousClock.now - clock)
            let page: HintPage
            do throws(StoreFailure) {
                page = try await source.pull(position, now)
            } catch {
                return error
            }
            guard let report = try await doors.take(page, source, worker, lease, now) else {
                log.notice("hints of \(source.name) are read by another worker meanwhile")
                return nil
            }
            if report.fresh > 0 {
                log.debug(
                    "hints of \(source.name): \(report.fresh) new, \(report.woken) made due")
            }
            position = page.position ?? position
            if !page.receipts.isEmpty {
                do throws(StoreFailure) {
                    try await source.acknowledge(page.receipts, now)
                } catch {
                    // They come again, and are known then.
                    return error
                }
            }
            if !page.hasMore || Task.isCancelled { break }
        }
        return nil
    }

    private func rest(
        of source: HintSource, _ failures: Int, _ failure: StoreFailure?
    ) -> Duration {
        guard let failure else { return source.interval }
        var rest = max(
            source.interval, retryDelay(attempts: failures, jitter: .random(in: 0..<1)))
        rest = min(rest, max(Self.longestBackoff, source.interval))
        if case .throttled(let retryAfter?) = failure { rest = max(rest, retryAfter) }
        return rest
    }

    /// A failure and its end are told once each.
    private func tell(_ source: HintSource, _ failure: StoreFailure?) {
        if let failure {
            guard failing.withLock({ $0.insert(source.name).inserted }) else { return }
            log.warning(
                "hints of \(source.name): \(failure.problem.sentence); tried again ever more rarely"
            )
        } else if failing.withLock({ $0.remove(source.name) }) != nil {
            log.notice("hints of \(source.name) are read again")
        }
    }
}
