import Logging
import Renewal
import Synchronization

/// Gathers outcomes and commits them in batches, by size or age.
final class Committer: Sendable {
    private struct State {
        var queue: [Outcome] = []
        var full: [CheckedContinuation<Void, Never>] = []
        var isClosed = false
        var hasEnded = false
        var enders: [CheckedContinuation<Void, Never>] = []
        /// Why the last attempt has failed; nil when it has not.
        var trouble: LedgerError?
        /// Answers were dropped, and the trouble has not ended since.
        var hasGivenUp = false
        var refused = RefusedOutcomes()
    }

    private let state = Mutex(State())
    private let wakeUp = AsyncEvent()
    private let context: RunContext
    private let counters: RunCounters
    /// As they were at the start: batches keep their sizes.
    private let settings: EngineSettings
    /// Told after each commit.
    private let told: @Sendable (CommitReport) -> Void

    init(
        _ context: RunContext, _ counters: RunCounters,
        told: @escaping @Sendable (CommitReport) -> Void = { _ in }
    ) {
        self.context = context
        self.counters = counters
        self.told = told
        settings = context.settings
    }

    private var mode: RunMode { context.mode }
    private var leases: Leases { context.leases }
    private var faults: StandingFaults { context.faults }
    private var log: Logger { context.log }

    /// Whether checks may start: the answer of one that cannot be committed would have to wait, and
    /// perhaps be asked for again.
    var commits: QueueMachine.Commits {
        state.withLock { $0.hasGivenUp ? .givenUp : $0.trouble == nil ? .flow : .wait }
    }

    /// Why nothing can be committed just now.
    var trouble: LedgerError? { state.withLock { $0.trouble } }

    /// Whether one pass, or a stop, has nothing more to hope for.
    var hasGivenUp: Bool { state.withLock { $0.hasGivenUp } }

    /// Whoever hands something over rings: the rest is only not without end.
    private static let longestRest = Duration.hours(1)

    /// How many outcomes lie in the queue before those who hand over wait.
    private var queueLimit: Int { 4 * settings.batchLimit }

    /// Hands an outcome over; waits while the queue is full.
    func submit(_ outcome: Outcome) async {
        let (wakes, isOver) = state.withLock { state in
            state.queue.append(outcome)
            let count = state.queue.count
            return (count == 1 || count == settings.batchLimit, count > queueLimit)
        }
        if wakes { wakeUp.signal() }
        guard isOver else { return }
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                guard state.queue.count > queueLimit else { return true }
                state.full.append(continuation)
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    /// No outcome follows: returns when what is left has been committed.
    func close() async {
        state.withLock { $0.isClosed = true }
        wakeUp.signal()
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.enders.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    func run() async {
        await commitUntilClosed()
        let enders = state.withLock { state in
            state.hasEnded = true
            return state.enders
        }
        for ender in enders { ender.resume() }
    }

    private func commitUntilClosed() async {
        while true {
            let (waiting, isClosed) = state.withLock { ($0.queue.count, $0.isClosed) }
            if !isClosed { await tryAgain(state.withLock { $0.refused.takeDue() }) }
            if waiting == 0 {
                if isClosed { return drop(state.withLock { $0.refused.takeAll() }.map(\.outcome)) }
                let nextTry = state.withLock { $0.refused.nextTry }
                let rest = nextTry.map { $0 - .now } ?? Self.longestRest
                await wakeUp.wait(upTo: max(rest, .zero))
                continue
            }
            if !isClosed { await waitForOthers() }
            await commit(next())
        }
    }

    /// Waits until a batch is full, old enough or the last. An old ring is no reason to hurry.
    private func waitForOthers() async {
        let end = ContinuousClock.now + settings.batchAge
        while ContinuousClock.now < end,
            state.withLock({ $0.queue.count < settings.batchLimit && !$0.isClosed })
        {
            await wakeUp.wait(upTo: end - ContinuousClock.now)
        }
    }

    private func next() -> [Outcome] {
        let (batch, full) = state.withLock { state in
            let count = min(state.queue.count, settings.batchLimit)
            let batch = Array(state.queue.prefix(count))
            state.queue.removeFirst(count)
            // Who is still over the limit waits on, the latest.
            let over = max(state.queue.count - queueLimit, 0)
            let freed = state.full.prefix(max(state.full.count - over, 0))
            state.full.removeFirst(freed.count)
            return (batch, freed)
        }
        for waiter in full { waiter.resume() }
        return batch
    }

    /// Commits a batch, again and again while the database is away and the lease may still hold:
    /// an answer is worth keeping as long as no other worker can have asked again. What alone is
    /// refused is set aside, and the others go on. One pass does not wait for ever.
    func commit(_ batch: [Outcome], as part: Heartbeat.Part = .commits) async {
        defer { context.heartbeat.rest(part) }
        let began = ContinuousClock.now
        var pending = batch
        var attempts = 0
        while !pending.isEmpty {
            do {
                try await store(&pending, as: part)
                faults.ended(.commits)
                if attempts > 0 {
                    log.notice(.commitGoesOn, metadata: LogField.topic(.commitGoesOn))
                }
                return
            } catch {
                attempts += 1
                state.withLock { $0.trouble = error }
                if !faults.met(error, by: .commits), attempts == 1, !hasGivenUp {
                    log.warning(.commitWaits(error), metadata: LogField.topic(.commitWaits))
                }
                if error.isLasting, await setAside(from: &pending, error, as: part) { continue }
                guard isWorthWaiting(for: error, since: began), !Task.isCancelled else {
                    giveUp()
                    return drop(pending)
                }
                try? await Task.sleep(
                    for: retryDelay(attempts: 1, jitter: 0) / 20
                        * (1 + min(attempts, 8)))
            }
        }
    }

    /// One attempt. Where it throws, `batch` is what is left of it: what was stored is told.
    private func store(
        _ batch: inout [Outcome], as part: Heartbeat.Part
    ) async throws(LedgerError) {
        guard let now = batch.map(\.claim.claimedAt).max() else { return }
        context.heartbeat.expect(part, within: settings.stallLimit)
        let report = try await context.ledger.commit(batch, under: leases.lease, at: now)
        let left = report.unfinished?.left ?? []
        if left.isEmpty {
            state.withLock { state in
                state.trouble = nil
                state.hasGivenUp = false
            }
        }
        context.inFlight.restNoMore(report.committed.lazy.map(\.claim))
        context.inFlight.rest(report.held, isLast: mode != .forever)
        let waiting = Set(left.map(\.claim))
        context.inFlight.remove(batch.map(\.claim).filter { !waiting.contains($0) })
        batch = left
        account(report)
        if !left.isEmpty { try report.requireAll() }
    }

    private func drop(_ batch: [Outcome]) {
        guard !batch.isEmpty else { return }
        context.inFlight.remove(batch.map(\.claim))
        log.warning(.answersDropped(batch.count), metadata: LogField.topic(.answersDropped))
    }

    /// So many leases long a commit is tried again while the leases themselves can be kept, as with
    /// a disk that is full.
    private static let patience = 10

    private func isWorthWaiting(
        for error: LedgerError, since began: ContinuousClock.Instant
    ) -> Bool {
        let waited = ContinuousClock.now - began
        // Nobody mends anything while one pass waits.
        if error.isLasting, mode != .forever { return false }
        guard isPatient else { return waited < settings.lease && !hasGivenUp }
        return waited < settings.lease
            || (leases.areReliable && waited < settings.lease * Self.patience)
    }

    /// Neither one pass nor a stop waits for ever, however many batches are left.
    private var isPatient: Bool { mode == .forever && !state.withLock { $0.isClosed } }

    /// What ends anyhow ends with the trouble; else the next commit shows whether it goes on.
    private func giveUp() {
        let isPatient = self.isPatient
        state.withLock { state in
            state.hasGivenUp = !isPatient
            if isPatient { state.trouble = nil }
        }
    }

    private func account(_ report: CommitReport) {
        counters.add(report)
        for outcome in report.refused {
            let claim = outcome.claim
            var fields = LogField.topic(.outcomeRefused, of: claim.purchase.app)
            fields[LogField.purchase] = "\(claim.purchaseID)"
            log.error(.outcomeRefused(claim.purchaseID, outcome.schedule.problem), metadata: fields)
        }
        if !report.held.isEmpty {
            log.warning(
                .rowsHeld(report.held.count, tryingAgain: mode == .forever),
                metadata: LogField.topic(.rowsHeld))
        }
        context.services.observer.committed(report)
        told(report)
    }
}

// What alone is refused.
extension Committer {
    /// Sets aside what the database refuses while it takes the rest.
    ///
    /// - Returns: whether `pending` is what is left to be tried; false where nothing shows that the
    ///   database takes anything.
    private func setAside(
        from pending: inout [Outcome], _ error: LedgerError, as part: Heartbeat.Part
    ) async -> Bool {
        let count = pending.count
        guard isPatient, state.withLock({ $0.refused.hasRoom(for: count) }) else { return false }
        var separated = SeparatedOutcomes()
        if count == 1 {
            separated.refused = [(pending[0], error)]
        } else {
            separated = await separate(pending, as: part)
        }
        guard separated.left.count < count else { return false }
        pending = separated.left
        keep(separated.refused.map { .init(outcome: $0.outcome, error: $0.error, since: .now) })
        // Told by those that are set aside from now on.
        faults.ended(.commits)
        if pending.isEmpty { state.withLock { $0.trouble = nil } }
        return true
    }

    /// Tries what was refused again; what has waited for too long is asked about again.
    private func tryAgain(_ entries: [RefusedOutcomes.Entry]) async {
        guard !entries.isEmpty else { return }
        var outcomes = entries.map(\.outcome)
        var taken = Set(outcomes.map(\.claim))
        do {
            try await store(&outcomes, as: .commits)
        } catch {
            taken.subtract(outcomes.map(\.claim))
            if error.isLasting, outcomes.count > 1 {
                taken.formUnion(await separate(outcomes, as: .commits).taken.map(\.claim))
            }
        }
        let limit = settings.lease * Self.patience
        var (kept, dropped): ([RefusedOutcomes.Entry], [RefusedOutcomes.Entry]) = ([], [])
        for entry in entries {
            if taken.contains(entry.outcome.claim) {
                faults.ended(.outcome(entry.outcome.claim.purchaseID))
            } else if leases.areReliable, ContinuousClock.now - entry.since < limit {
                kept.append(entry)
            } else {
                faults.forget(.outcome(entry.outcome.claim.purchaseID))
                dropped.append(entry)
            }
        }
        keep(kept)
        drop(dropped.map(\.outcome))
        context.heartbeat.rest(.commits)
    }

    private func keep(_ entries: [RefusedOutcomes.Entry]) {
        for entry in entries {
            faults.met(entry.error, by: .outcome(entry.outcome.claim.purchaseID))
        }
        let pause = min(RefusedOutcomes.pause, settings.lease)
        state.withLock { $0.refused.add(entries, pause: pause) }
        // Whoever clears what a crash has left commits beside the loop, which may be at rest.
        wakeUp.signal()
    }

    /// Commits what the database takes of a batch that it has refused. One of them, any, shows
    /// whether it takes anything; then the rest is halved until what is refused stands alone.
    private func separate(_ batch: [Outcome], as part: Heartbeat.Part) async -> SeparatedOutcomes {
        var separated = SeparatedOutcomes()
        var others = batch
        let first = others.remove(at: .random(in: others.indices))
        var parts = [others, [first]]
        while var next = parts.popLast() {
            guard !next.isEmpty else { continue }
            let tried = next
            do {
                try await store(&next, as: part)
                separated.taken += tried
            } catch {
                let left = Set(next.map(\.claim))
                separated.taken += tried.filter { !left.contains($0.claim) }
                guard error.isLasting, !separated.taken.isEmpty else {
                    separated.left = next + parts.joined()
                    return separated
                }
                if next.count == 1 {
                    separated.refused.append((next[0], error))
                } else {
                    let middle = next.count / 2
                    parts += [Array(next[middle...]), Array(next[..<middle])]
                }
            }
        }
        return separated
    }
}

/// What a run has come to so far.
final class RunCounters: Sendable {
    private let report = Mutex(RunReport())

    func add(_ commit: CommitReport) {
        report.withLock { report in
            report.checked += commit.committed.count
            report.events += commit.events.count
            report.held += commit.held.count
            for outcome in commit.committed {
                if outcome.isJudged {
                    report.verdicts += 1
                } else {
                    report.unjudged += 1
                }
            }
        }
    }

    func leftToOthers(_ shards: Int) {
        report.withLock { $0.shardsLeftToOthers = shards }
    }

    /// Suspects of a crash whose store lets nobody call.
    func leftUnasked(_ suspects: Int) { report.withLock { $0.unjudged += suspects } }

    var current: RunReport { report.withLock { $0 } }
}
