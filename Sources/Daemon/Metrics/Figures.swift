import Ledger
import Renewal
import Synchronization

/// What is measured of each app and each source of news.
final class Figures: Sendable {
    private let apps = Mutex<[AppKey: AppMeter]>([:])
    private let sources = Mutex<[SourceID: SourceFigures]>([:])

    /// The samples of a family; empty for those that are kept elsewhere.
    func samples(_ family: MetricFamily) -> [MetricSample] {
        if AppFigures.families.contains(family) {
            return apps.withLock { $0 }.flatMap { app, meter in
                meter.figures.withLock { $0 }.samples(family, of: app)
            }
        }
        guard SourceFigures.families.contains(family) else { return [] }
        return sources.withLock { $0 }.flatMap { $1.samples(family, of: $0) }
    }

    /// Begins the series of an app.
    func begin(_ app: AppKey) {
        apps.withLock { apps in
            if apps[app] == nil { apps[app] = AppMeter() }
        }
    }

    /// Begins the series of a source of news.
    func begin(_ source: SourceID) {
        sources.withLock { sources in
            if sources[source] == nil { sources[source] = SourceFigures() }
        }
    }

    /// Ends the series of all others.
    func keep(_ wanted: Set<AppKey>, _ wantedSources: Set<SourceID>) {
        apps.withLock { apps in apps = apps.filter { wanted.contains($0.key) } }
        sources.withLock { sources in
            sources = sources.filter { wantedSources.contains($0.key) }
        }
    }

    /// Changes what is measured of a source that has begun.
    func change(_ source: SourceID, _ change: (inout SourceFigures) -> Void) {
        sources.withLock { sources in
            guard var figures = sources[source] else { return }
            change(&figures)
            sources[source] = figures
        }
    }

    /// Changes what is measured of an app that has begun.
    func change(_ app: AppKey, _ change: (inout AppFigures) -> Void) {
        let meter = apps.withLock { $0[app] }
        meter?.figures.withLock { change(&$0) }
    }
}

/// Where one app is measured: apps do not wait for one another, and none is copied to be changed.
private final class AppMeter: Sendable {
    let figures = Mutex(AppFigures())
}

/// What is measured of one app: numbers in one place, for a thousand apps have a thousand of them.
struct AppFigures {
    /// Calls a second that are allowed for what is due.
    var quota = 0.0
    var calls = 0
    var inFlight = 0
    var answers: [AnswerClass: Int] = [:]
    var circuit = StoreCircuit.Position.closed
    var pace = 1.0
    var swept = 0
    /// Nil until it has swept.
    var sweepInterval: Duration?
    /// Nil until the queue was read.
    var queue: (due: Int64, oldest: Duration)?
    /// Nil where nothing was imported.
    var backfill: QueueDepth.Backfill?
    var breaker = (isTripped: false, held: Int64(0))
    /// Nil until the questions were counted.
    var refunds: (open: Int64, nearestDeadline: Timestamp?)?

    static let families: Set<MetricFamily> = [
        .checks, .storeCalls, .quota, .inFlight, .circuit, .pace, .swept, .sweepInterval, .due,
        .oldestDue, .backfillImported, .backfillLeft, .breakerTripped, .heldRevocations,
        .refundRequests,
        .refundDeadline,
    ]

    /// The samples of one of `families`.
    func samples(_ family: MetricFamily, of app: AppKey) -> [MetricSample] {
        switch family {
        case .checks:
            AnswerClass.allCases.map {
                MetricSample(app.labels(("answer", $0.rawValue)), Double(answers[$0, default: 0]))
            }
        case .circuit:
            [StoreCircuit.Position.closed, .open, .probing].map {
                MetricSample(app.labels(("state", $0.rawValue)), $0 == circuit ? 1 : 0)
            }
        default: number(family).map { [MetricSample(app.labels(), $0)] } ?? []
        }
    }

    private func number(_ family: MetricFamily) -> Double? {
        switch family {
        case .storeCalls: Double(calls)
        case .quota: quota
        case .inFlight: Double(inFlight)
        case .pace: pace
        case .swept: Double(swept)
        case .sweepInterval: sweepInterval.map { Double($0.nanoseconds) / 1e9 }
        case .due: queue.map { Double($0.due) }
        case .oldestDue: queue.map { Double($0.oldest.nanoseconds) / 1e9 }
        case .backfillImported: backfill.map { Double($0.imported) }
        case .backfillLeft: backfill.map { Double($0.left) }
        case .breakerTripped: breaker.isTripped ? 1 : 0
        case .heldRevocations: Double(breaker.held)
        case .refundRequests: refunds.map { Double($0.open) }
        case .refundDeadline: refunds.map { $0.nearestDeadline?.secondsSinceEpoch ?? 0 }
        default: nil
        }
    }
}

/// What is measured of one source of news.
struct SourceFigures {
    var fresh = 0
    var skipped = 0
    /// Of types that nobody handles.
    var unhandled = (expected: 0, unexpected: 0)
    /// Nil until it was read by this worker.
    var readAt: Timestamp?

    static let families: Set<MetricFamily> = [
        .hints, .hintsSkipped, .newsUnhandled, .hintsReadTime,
    ]

    /// The samples of one of `families`.
    func samples(_ family: MetricFamily, of source: SourceID) -> [MetricSample] {
        let label = ("source", source.text)
        switch family {
        case .hints: return [MetricSample([label], Double(fresh))]
        case .hintsSkipped: return [MetricSample([label], Double(skipped))]
        case .newsUnhandled:
            return [
                MetricSample([label, ("expected", "true")], Double(unhandled.expected)),
                MetricSample([label, ("expected", "false")], Double(unhandled.unexpected)),
            ]
        case .hintsReadTime:
            return readAt.map { [MetricSample([label], $0.secondsSinceEpoch)] } ?? []
        default: return []
        }
    }
}

extension AppKey {
    fileprivate func labels(_ more: (String, String)...) -> [(String, String)] {
        [("store", store.rawValue), ("app", id.text)] + more
    }
}

extension Timestamp {
    var secondsSinceEpoch: Double { Double(microsecondsSinceEpoch) / 1_000_000 }
}

extension Duration {
    var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
