import Logging
import Renewal
import Synchronization

/// Reads the sources of hints, each at its own pace and by one worker at a time. A hint makes a
/// purchase due and does nothing else; receipts go back to a source only when that is stored.
final class HintRunner: Sendable {
    private let controls: Controls
    private let given: Mutex<[HintSource]>
    private let doors: HintDoors
    private let worker: WorkerID
    private let faults: StandingFaults
    private let log: Logger
    /// What has been told of a source already.
    private let told = Mutex(Told())
    private let stopSign = StopSign()
    private let changeBell = Doorbell()

    private struct Told {
        var failing: Set<SourceID> = []
        var skipping: Set<SourceID> = []
    }

    /// Pages of one turn: then the source rests, however much more there is.
    static let pageLimit = 1000
    /// The longest rest between two looks at a source.
    private static let longestRest = Duration.minutes(1)
    private static let longestBackoff = Duration.minutes(15)

    init?(
        _ controls: Controls, _ ports: Ports, worker: WorkerID, faults: StandingFaults? = nil,
        log: Logger
    ) {
        guard let doors = ports.hintDoors else { return nil }
        self.controls = controls
        given = Mutex(ports.hints)
        self.doors = doors
        self.worker = worker
        self.faults = faults ?? StandingFaults(mode: .forever, log: log)
        self.log = log
    }

    private var sources: [HintSource] {
        let wanted = controls.settings.stores
        return given.withLock { $0 }.filter { wanted.isEmpty || wanted.contains($0.app.store) }
    }

    /// Reads other sources from now on: those that have come are begun with, those that have gone
    /// are let go of.
    func adapt(to sources: [HintSource]) {
        given.withLock { $0 = sources }
        changeBell.ring()
    }

    /// Reads every source once, also before it is due; what another worker reads is left to it. A
    /// long backlog of news must not hold up a pass: what is left is read by the next one.
    func runOnce() async {
        await stopSign.cutting {
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
                group.addTask {
                    _ = await self.turn(source, isEarly: true)
                    self.controls.heartbeat.rest(.hints(source.name))
                }
            }
        }
    }

    /// Cuts short what is under way: it is read again later.
    func stop() { stopSign.raise() }

    /// Reads until `stop`.
    func run() async {
        await stopSign.cutting { await self.readAll() }
    }

    /// Each source is read by a task of its own, which ends when the source has gone.
    private func readAll() async {
        await withDiscardingTaskGroup { group in
            var readers: [SourceID: StopSign] = [:]
            var isFirst = true
            while !Task.isCancelled {
                let sources = sources
                let gone = Set(readers.keys).subtracting(sources.map(\.name))
                for name in gone { readers.removeValue(forKey: name)?.raise() }
                let come = sources.filter { readers[$0.name] == nil }
                for source in come {
                    let sign = StopSign()
                    readers[source.name] = sign
                    group.addTask { await sign.cutting { await self.readOn(source) } }
                }
                if !isFirst { tell(come: come.map(\.name), gone: gone.sorted()) }
                isFirst = false
                await changeBell.wait(upTo: .seconds(60))
            }
        }
    }

    private func readOn(_ source: HintSource) async {
        while !Task.isCancelled {
            let rest = await turn(source, isEarly: false)
                .clamped(.milliseconds(10), Self.longestRest)
            controls.heartbeat.expect(
                .hints(source.name), within: rest + controls.settings.stallLimit)
            try? await Task.sleep(for: rest)
        }
        controls.heartbeat.rest(.hints(source.name))
    }

    /// - Returns: how long to leave the source alone.
    private func turn(_ source: HintSource, isEarly: Bool) async -> Duration {
        await Heartbeat.$part.withValue(.hints(source.name)) {
            await take(source, isEarly: isEarly)
        }
    }

    /// A pull may take long by itself where the store waits for news.
    private func beat(_ source: HintSource) {
        controls.heartbeat.expect(
            .hints(source.name), within: source.patience + controls.settings.stallLimit)
    }

    private func take(_ source: HintSource, isEarly: Bool) async -> Duration {
        let lease = source.patience + .seconds(30)
        beat(source)
        do throws(LedgerError) {
            switch try await doors.begin(source, worker, lease, isEarly) {
            case .wait(let rest):
                return max(rest, .milliseconds(100))
            case .mayPull(let position, let failures, let now):
                let pulled = try await pull(source, from: position, lease, began: now)
                guard !Task.isCancelled else {
                    // Cut short is no failure: the next one may read on at once.
                    await letGo(source, failures)
                    return .zero
                }
                let failure = pulled.failure
                let rest = rest(of: source, failures + 1, failure)
                tell(source, pulled)
                beat(source)
                try await doors.end(
                    source, worker, rest, failure == nil ? 0 : failures + 1, failure)
                faults.ended(.hints)
                return rest
            }
        } catch {
            faults.met(error, by: .hints)
            log.debug("hints of \(source.name) wait for the database: \(error.sentence)")
            return min(source.interval, .seconds(5))
        }
    }

    /// In a task of its own, as this one is cancelled.
    private func letGo(_ source: HintSource, _ failures: Int) async {
        let (doors, worker) = (self.doors, self.worker)
        _ = await Task { try? await doors.end(source, worker, .zero, failures, nil) }.value
    }

    /// What the pulls of one turn came to.
    private struct Pulled {
        /// The failure that ended it.
        var failure: StoreFailure?
        /// Pieces of news that could not be read.
        var skipped = 0
    }

    /// Pulls until there is no more.
    private func pull(
        _ source: HintSource, from start: String?, _ lease: Duration, began: Timestamp
    ) async throws(LedgerError) -> Pulled {
        var pulled = Pulled()
        var position = start
        let clock = ContinuousClock.now
        for _ in 0..<Self.pageLimit {
            let now = began + (ContinuousClock.now - clock)
            let page: HintPage
            beat(source)
            do throws(StoreFailure) {
                page = try await source.pull(position, now)
            } catch {
                pulled.failure = error
                return pulled
            }
            beat(source)
            guard let report = try await doors.take(page, source, worker, lease, now) else {
                log.notice(
                    "hints of \(source.name) are read by another worker meanwhile",
                    metadata: LogField.topic(.hintsElsewhere, of: source.app))
                return pulled
            }
            if report.fresh > 0 {
                log.debug(
                    "hints of \(source.name): \(report.fresh) new, \(report.woken) made due")
            }
            pulled.skipped += page.skipped
            position = page.position ?? position
            if !page.receipts.isEmpty {
                beat(source)
                do throws(StoreFailure) {
                    try await source.acknowledge(page.receipts, now)
                } catch {
                    // They come again, and are known then.
                    pulled.failure = error
                    return pulled
                }
            }
            if !page.hasMore || Task.isCancelled { break }
        }
        return pulled
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

    /// A failure and its end are told once each, and so are pieces that cannot be read.
    private func tell(_ source: HintSource, _ pulled: Pulled) {
        let name = source.name
        if let failure = pulled.failure {
            guard told.withLock({ $0.failing.insert(name).inserted }) else { return }
            var fields = LogField.topic(.hintsWait, of: source.app)
            fields[LogField.problem] = "\(failure.problem.code.rawValue)"
            log.warning(
                "hints of \(name): \(failure.problem.sentence); tried again ever more rarely",
                metadata: fields)
        } else if told.withLock({ $0.failing.remove(name) }) != nil {
            log.notice(
                "hints of \(name) are read again",
                metadata: LogField.topic(.hintsGoOn, of: source.app))
        }
        if pulled.skipped == 0 {
            if pulled.failure == nil { told.withLock { _ = $0.skipping.remove(name) } }
        } else if told.withLock({ $0.skipping.insert(name).inserted }) {
            log.notice(
                "hints of \(name): \(pulled.skipped) skipped: not to be read, or not of this app",
                metadata: LogField.topic(.hintsSkipped, of: source.app))
        }
    }

    private func tell(come: [SourceID], gone: [SourceID]) {
        guard !come.isEmpty || !gone.isEmpty else { return }
        let changes = come.map { "+ \($0)" } + gone.map { "- \($0)" }
        log.notice(
            "hints have other sources now: \(changes.joined(separator: ", "))",
            metadata: LogField.topic(.hintSourcesChanged))
    }
}
