import Logging
import Renewal
import Synchronization

/// Reads one source of hints to its end. A hint makes a purchase due and does nothing else;
/// receipts go back to a source only when that is stored.
struct HintReader: Sendable {
    let context: RunContext
    let store: any HintStore
    let telling: HintTelling
    /// For the calls of one reading.
    let permit: @Sendable (HintSource) -> CallPermit
    /// Told when something of an app was made due.
    let woken: @Sendable (AppKey) -> Void

    /// Pages of one reading: then the source rests, however much more there is.
    static let pageLimit = 1000
    private static let longestBackoff = Duration.minutes(15)
    /// How long a source rests whose page the database did not take.
    private static let databaseRest = Duration.seconds(5)

    /// - Returns: what is to be told of it. Cut short is no failure: the next one may read on at
    ///   once, or when the day's budget of the source has room again.
    func read(_ source: HintSource, _ start: HintWatch.Start) async -> HintReading {
        var pulled = Pulled()
        do throws(LedgerError) {
            try await pull(source, start, into: &pulled)
            guard !Task.isCancelled, !pulled.isLost else {
                return left(source, start, pulled)
            }
            // Of all its pages: one that is taken does not mend the next one.
            context.faults.ended(.hintPages(source.name))
            telling.tell(source, pulled)
            guard let failure = pulled.failure else {
                return HintReading(
                    source.name, .read, position: pulled.position,
                    rest: max(source.interval, leastRest(of: source, from: start, after: pulled)))
            }
            let failures = start.place.failures + 1
            return HintReading(
                source.name, .failed(failure.problem, failures: failures),
                position: pulled.position,
                rest: max(
                    rest(of: source, failures, failure),
                    leastRest(of: source, from: start, after: pulled)))
        } catch {
            guard !Task.isCancelled else { return left(source, start, pulled) }
            context.faults.met(error, by: .hintPages(source.name))
            context.log.debug(.hintPagesWait(source.name, error))
            return left(
                source, start, pulled, atLeast: min(source.interval, Self.databaseRest))
        }
    }

    private func left(
        _ source: HintSource, _ start: HintWatch.Start, _ pulled: Pulled,
        atLeast rest: Duration = .zero
    ) -> HintReading {
        HintReading(
            source.name, .left, position: pulled.position,
            rest: max(rest, leastRest(of: source, from: start, after: pulled)))
    }

    /// Calls count to the day's budget of a source also where they were cut short, brought nothing,
    /// or nothing that could be stored, and beside those of an earlier pass for which it was still
    /// to rest.
    private func leastRest(
        of source: HintSource, from start: HintWatch.Start, after pulled: Pulled
    ) -> Duration {
        source.budget.map { start.early + $0.rest(after: pulled.calls) } ?? .zero
    }

    /// What the pulls of one reading came to.
    struct Pulled {
        /// The failure that ended it.
        var failure: StoreFailure?
        var calls = 0
        /// Pieces of news that could not be read.
        var skipped = 0
        /// Where to go on, as far as it is not stored.
        var position: String?
        /// Whether another worker has the source.
        var isLost = false
    }

    /// Pulls until there is no more.
    private func pull(
        _ source: HintSource, _ start: HintWatch.Start, into pulled: inout Pulled
    ) async throws(LedgerError) {
        var position = start.place.position
        let permit = permit(source)
        for _ in 0..<Self.pageLimit {
            let now = start.now + (ContinuousClock.now - start.toldAt)
            let page: HintPage
            beat(source)
            let began = ContinuousClock.now
            pulled.calls += 1
            do throws(StoreFailure) {
                page = try await source.pull(position, now, permit)
            } catch {
                pulled.failure = error
                return
            }
            beat(source)
            pulled.failure = page.failure
            guard !page.isQuiet else {
                pulled.position = page.position
                return
            }
            let rest = leastRest(of: source, from: start, after: pulled)
            guard try await store(page, of: source, at: now, resting: rest) else {
                pulled.isLost = true
                return
            }
            pulled.skipped += page.skipped
            position = page.position ?? position
            if !page.receipts.isEmpty {
                beat(source)
                do throws(StoreFailure) {
                    try await source.acknowledge(page.receipts, now, permit)
                } catch {
                    // They come again, and are known then.
                    pulled.failure = error
                    return
                }
            }
            if !page.hasMore || pulled.failure != nil || Task.isCancelled { break }
            if let budget = source.budget {
                beat(source)
                try? await Task.sleep(until: began + budget.apart)
                // Cut short: what is stored is stored, and the rest is read on.
                if Task.isCancelled { break }
            }
        }
    }

    /// What its calls so far have used up of its day is stored with each page: a process that dies
    /// tells nothing later.
    ///
    /// - Returns: whether the source is still ours.
    private func store(
        _ page: HintPage, of source: HintSource, at now: Timestamp, resting rest: Duration
    ) async throws(LedgerError) -> Bool {
        var delivery = HintDelivery(
            page, from: source.name, about: source.app, by: context.worker,
            lease: context.settings.lease, began: now)
        if source.budget != nil { delivery.rest = rest }
        guard let report = try await self.store.take(delivery) else {
            telling.elsewhere(source)
            return false
        }
        if report.fresh > 0 {
            context.log.debug(.hintsTaken(source.name, new: report.fresh, madeDue: report.woken))
        }
        telling.tell(source, report.unhandled)
        if !report.refundNotices.isEmpty {
            context.services.observer.told(report.refundNotices)
        }
        if report.woken > 0 { woken(source.app) }
        return true
    }

    /// A pull may take long by itself where the store waits for news.
    private func beat(_ source: HintSource) {
        context.heartbeat.expect(
            .hints(source.name), within: source.patience + context.settings.stallLimit)
    }

    private func rest(
        of source: HintSource, _ failures: Int, _ failure: StoreFailure
    ) -> Duration {
        var rest = max(
            source.interval, retryDelay(attempts: failures, jitter: .random(in: 0..<1)))
        rest = min(rest, max(Self.longestBackoff, source.interval))
        if case .throttled(let retryAfter?) = failure { rest = max(rest, retryAfter) }
        return rest
    }
}

extension HintPage {
    /// Nothing but its place is to be stored, and nothing to be given back: that is told together
    /// with others.
    fileprivate var isQuiet: Bool {
        hints.isEmpty && questions.isEmpty && rulings.isEmpty && unhandled.isEmpty
            && receipts.isEmpty && skipped == 0 && !hasMore
    }
}

/// Tells what goes wrong with sources of hints: a failure and its end once each, and pieces that
/// cannot be read.
final class HintTelling: Sendable {
    private struct Told {
        var failing: Set<SourceID> = []
        var skipping: Set<SourceID> = []
    }

    private let log: Logger
    /// What has been told of a source already.
    private let told = Mutex(Told())

    init(_ log: Logger) { self.log = log }

    func tell(_ source: HintSource, _ pulled: HintReader.Pulled) {
        let name = source.name
        if let failure = pulled.failure {
            guard told.withLock({ $0.failing.insert(name).inserted }) else { return }
            var fields = LogField.topic(.hintsWait, of: source.app)
            fields[LogField.problem] = "\(failure.problem.code.rawValue)"
            log.warning(.hintsWait(name, failure.problem), metadata: fields)
        } else if told.withLock({ $0.failing.remove(name) }) != nil {
            log.notice(.hintsGoOn(name), metadata: LogField.topic(.hintsGoOn, of: source.app))
        }
        if pulled.skipped == 0 {
            if pulled.failure == nil { told.withLock { _ = $0.skipping.remove(name) } }
        } else if told.withLock({ $0.skipping.insert(name).inserted }) {
            log.notice(
                .hintsSkipped(name, pulled.skipped),
                metadata: LogField.topic(.hintsSkipped, of: source.app))
        }
    }

    /// Each type is told once, by whoever records it first. What cannot be read is told as skipped.
    func tell(_ source: HintSource, _ unhandled: [UnhandledCount]) {
        for count in unhandled
        where count.isNew && !count.isExpected && count.type != UnhandledNews.unreadable {
            log.warning(
                .newsUnhandled(count.type, from: source.name),
                metadata: LogField.topic(.newsUnhandled, of: source.app))
        }
    }

    func elsewhere(_ source: HintSource) {
        log.notice(
            .hintsElsewhere(source.name), metadata: LogField.topic(.hintsElsewhere, of: source.app))
    }
}
