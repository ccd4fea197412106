import CoreMetrics
package import Ledger
package import Renewal
import Synchronization

/// What the daemon measures of its work. Labels are stores, apps and words of ours: never a user, a
/// purchase or anything else that grows with the fleet.
package final class DaemonMetrics: Sendable {
    /// What is served.
    package let registry: MetricRegistry
    private let figures = Figures()
    /// Looked up once, for each check takes one.
    private let durations = Mutex<[Store: CoreMetrics.Timer]>([:])
    /// Likewise, of those that were needed.
    private let lags = Mutex<[Lag: CoreMetrics.Timer]>([:])

    private struct Lag: Hashable {
        let store: Store
        let change: Detection.Change

        var labels: [(String, String)] {
            [("store", store.rawValue), ("change", change.rawValue)]
        }
    }

    /// - Parameter startedAt: when the process began, by the machine's clock.
    package init(startedAt: Timestamp) {
        registry = MetricRegistry { [figures] in figures.samples($0) }
        gauge(.buildInfo, [("version", Version.text)]).set(1)
        gauge(.startTime).set(startedAt.secondsSinceEpoch)
        counter(.leaseLosses).increment(by: 0)
        gauge(.shards).set(0)
        for result in ["committed", "failed"] { counter(.commits, [("result", result)]).reset() }
    }

    /// Begins the series of an app, so that the first increase of each is seen as one.
    ///
    /// - Parameters:
    ///   - app: one that is configured.
    ///   - rate: calls a second that are allowed for what is due.
    package func begin(_ app: AppKey, rate: Double) {
        figures.begin(app)
        figures.change(app) { $0.quota = rate }
        durations.withLock { durations in
            guard durations[app.store] == nil else { return }
            durations[app.store] = timer(.checkDuration, [("store", app.store.rawValue)])
            for told in EventKind.all { counter(.events, app.store.labels(told)).increment(by: 0) }
        }
    }

    /// Ends the series of apps and sources that the configuration names no more: one that stands
    /// still would raise alerts.
    package func keep(apps: Set<AppKey>, sources: Set<SourceID>) { figures.keep(apps, sources) }

    // MARK: Stores

    package func called(_ app: AppKey) { figures.change(app) { $0.calls += 1 } }

    /// Measures a check from the question to the answer.
    package func asking(_ app: AppKey, _ ask: () async -> AnsweredCall) async -> AnsweredCall {
        figures.change(app) { $0.inFlight += 1 }
        let began = ContinuousClock.now
        let answered = await ask()
        let took = (ContinuousClock.now - began).nanoseconds
        durations.withLock { $0[app.store] }?.recordNanoseconds(took)
        figures.change(app) { figures in
            figures.inFlight -= 1
            figures.answers[AnswerClass(answered.answer), default: 0] += 1
        }
        return answered
    }

    package func circuitMoved(_ app: AppKey, _ position: StoreCircuit.Position) {
        figures.change(app) { $0.circuit = position }
    }

    /// The sweep of an app has made purchases due; it comes to ask about what changes most often so
    /// often.
    package func swept(_ app: AppKey, _ count: Int, every interval: Duration) {
        figures.change(app) { figures in
            figures.swept += count
            figures.sweepInterval = interval
        }
    }

    package func paceMoved(_ app: AppKey, _ share: Double) {
        figures.change(app) { $0.pace = share }
    }

    // MARK: Database

    /// Measures a commit and counts what it came to.
    package func committing<Failure: Error>(
        _ commit: () async throws(Failure) -> CommitReport
    ) async throws(Failure) -> CommitReport {
        let began = ContinuousClock.now
        do throws(Failure) {
            let report = try await commit()
            timer(.commitDuration).recordNanoseconds((ContinuousClock.now - began).nanoseconds)
            let result = report.unfinished == nil ? "committed" : "failed"
            counter(.commits, [("result", result)]).increment(by: 1)
            count(.outcomes, "committed", report.committed.count)
            count(.outcomes, "dropped", report.dropped.count)
            count(.outcomes, "refused", report.refused.count)
            return report
        } catch {
            counter(.commits, [("result", "failed")]).increment(by: 1)
            throw error
        }
    }

    private func count(_ family: MetricFamily, _ result: String, _ number: Int) {
        counter(family, [("result", result)]).increment(by: Int64(number))
    }

    package func databaseFailed(_ operation: String) {
        counter(.databaseErrors, [("operation", operation)]).increment(by: 1)
    }

    /// - Parameter shards: that are held more; less than zero when they were given back.
    package func leasesTaken(_ shards: Int) {
        if shards < 0 {
            gauge(.shards).decrement(by: Double(-shards))
        } else {
            gauge(.shards).increment(by: Double(shards))
        }
    }

    package func leasesRenewed(held: Int, lost: Int) {
        gauge(.shards).set(Int64(held))
        counter(.leaseLosses).increment(by: Int64(lost))
    }

    /// - Parameters:
    ///   - app: whose queue it is.
    ///   - due: purchases that are due now.
    ///   - oldest: for how long the first of them has been due.
    ///   - backfill: what was imported; nil where nothing was.
    package func queueRead(
        _ app: AppKey, due: Int64, oldest: Duration, backfill: QueueDepth.Backfill? = nil
    ) {
        figures.change(app) { figures in
            figures.queue = (due, oldest)
            figures.backfill = backfill
        }
    }

    /// - Parameters:
    ///   - app: whose breaker it is.
    ///   - isTripped: whether it holds revocations.
    ///   - held: how many are held.
    package func breakerRead(_ app: AppKey, isTripped: Bool, held: Int64) {
        figures.change(app) { $0.breaker = (isTripped, held) }
    }

    package func queueRead(at time: Timestamp) { gauge(.queueReadTime).set(time.secondsSinceEpoch) }

    package func refundsRead(_ app: AppKey, open: Int64, nearestDeadline: Timestamp?) {
        figures.change(app) { $0.refunds = (open, nearestDeadline) }
    }

    // MARK: Events

    package func told(_ event: Event, _ detection: Detection?) {
        told(event.kind, in: event.app.store)
        guard let detection else { return }
        let series = Lag(store: event.app.store, change: detection.change)
        let known = lags.withLock { lags in
            let known = lags[series] ?? timer(.detectionLag, series.labels)
            lags[series] = known
            return known
        }
        known.recordNanoseconds(detection.lag.nanoseconds)
    }

    func told(_ kind: EventKind, in store: Store) {
        counter(.events, store.labels(kind)).increment(by: 1)
    }

    // MARK: News

    /// Begins the series of a source of news.
    package func begin(source: SourceID) { figures.begin(source) }

    /// Counts news that nobody handles. Types are the stores' words, and no labels.
    package func unhandled(_ source: SourceID, _ counts: [UnhandledCount]) {
        change(source) { figures in
            for count in counts {
                if count.isExpected {
                    figures.unhandled.expected += count.fresh
                } else {
                    figures.unhandled.unexpected += count.fresh
                }
            }
        }
    }

    /// - Parameters:
    ///   - source: its name.
    ///   - fresh: hints that were not heard before.
    ///   - skipped: pieces that could not be read.
    package func heard(_ source: SourceID, fresh: Int, skipped: Int) {
        change(source) { figures in
            figures.fresh += fresh
            figures.skipped += skipped
        }
    }

    package func read(_ source: SourceID, at time: Timestamp) {
        change(source) { $0.readAt = time }
    }

    private func change(_ source: SourceID, _ change: (inout SourceFigures) -> Void) {
        figures.change(source, change)
    }

    // MARK: Instruments

    private func counter(
        _ family: MetricFamily, _ labels: [(String, String)] = []
    ) -> Counter {
        Counter(label: family.name, dimensions: labels, factory: registry)
    }

    private func gauge(_ family: MetricFamily, _ labels: [(String, String)] = []) -> Meter {
        Meter(label: family.name, dimensions: labels, factory: registry)
    }

    private func timer(
        _ family: MetricFamily, _ labels: [(String, String)] = []
    ) -> CoreMetrics.Timer {
        CoreMetrics.Timer(label: family.name, dimensions: labels, factory: registry)
    }
}

/// What an answer came to, for counting.
package enum AnswerClass: String, Hashable, Sendable, CaseIterable {
    case verdict, doubt
    case unreachable, throttled, refused, malformed, signature, mismatch, rejected, unsupported

    package init(_ answer: Answer) {
        switch answer {
        case .verdict: self = .verdict
        case .doubt, .contested: self = .doubt
        case .failure(let failure):
            switch failure {
            case .unreachable: self = .unreachable
            case .throttled: self = .throttled
            case .refused: self = .refused
            case .malformed: self = .malformed
            case .signature: self = .signature
            case .mismatch: self = .mismatch
            case .rejected: self = .rejected
            case .unsupported: self = .unsupported
            }
        }
    }
}

extension Store {
    fileprivate func labels(_ kind: EventKind) -> [(String, String)] {
        [("store", rawValue), ("kind", kind.name), ("reason", kind.reason)]
    }
}

extension EventKind {
    /// Every event that there may be.
    static let all: [EventKind] =
        GrantReason.allCases.map { .grant($0) } + RevokeReason.allCases.map { .revoke($0) }
        + NoticeReason.allCases.map { .notice($0) }
}
