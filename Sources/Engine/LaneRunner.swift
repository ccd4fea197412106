import Logging
import Renewal

/// One app's queue: claims what is due, starts checks within the rate, the circuit and the slots,
/// and hands each outcome to the committer.
///
/// Checks are carried by a fixed number of workers that wait here for a claim; whatever may let one
/// start (a claim, a slot, a permit, a success) calls `supply`.
actor LaneRunner {
    nonisolated let lane: Lane
    private let mode: RunMode
    private nonisolated let controls: Controls
    private let ports: Ports
    private let slots: Slots
    private let leases: LeaseBook
    private let inHand: InHand
    private let committer: Committer
    private let budget: Budget
    private let log: Logger
    private nonisolated let refillBell = Doorbell()
    private nonisolated let paceBell = Doorbell()

    private var buffer: [Claim] = []
    private var places: [Int16: Place] = [:]
    /// Whether anything for this run was found since the places were last at the start.
    private var hasFound = false
    /// In one pass: what becomes due after it began is left to the next.
    private var cutoff: Timestamp?
    private var waiters: [CheckedContinuation<Claim?, Never>] = []
    private var inFlight = 0
    /// Claims handed to workers and not yet handed to the committer.
    private var unsettled = 0
    private var window = firstWindow
    private var circuit = Circuit()
    private var permits: PermitRow?
    private var interval = Duration.zero
    /// Workers that run or are about to.
    private var hired = 0
    private nonisolated let (hirings, hirer) = AsyncStream.makeStream(of: Int.self)
    /// Checks that wait for a place in the row of calls, for a call beyond their first. Served
    /// before any further check starts, so that what was begun gets done.
    private var callers: [CheckedContinuation<Void, Never>] = []
    private var hasEnded = false
    private let startedAt = ContinuousClock.now

    /// Checks under way at once until the store has shown that it answers.
    private static let firstWindow = 8

    init(
        _ lane: Lane, mode: RunMode, controls: Controls, ports: Ports, slots: Slots,
        leases: LeaseBook, inHand: InHand, committer: Committer, budget: Budget, log: Logger
    ) {
        self.lane = lane
        self.mode = mode
        self.controls = controls
        self.ports = ports
        self.slots = slots
        self.leases = leases
        self.inHand = inHand
        self.committer = committer
        self.budget = budget
        self.log = log
        slots.enter(lane.number)
    }

    private nonisolated var settings: EngineSettings { controls.settings }

    /// Runs until `stop`, or until one pass is done.
    func run() async {
        adapt()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.refillLoop() }
            group.addTask { await self.paceLoop() }
            for await count in hirings {
                for _ in 0..<count { group.addTask { await self.work() } }
            }
        }
        inHand.remove(buffer)
        buffer = []
    }

    /// No further check is started; those in hand are finished.
    func stop() {
        hasEnded = true
        for waiter in waiters { waiter.resume(returning: nil) }
        waiters = []
        for caller in callers { caller.resume() }
        callers = []
        hirer.finish()
        refillBell.ring()
        paceBell.ring()
    }

    /// Follows the settings as they are now. Checks under way are not touched.
    func adapt() {
        let interval = settings.callsPerSecond[lane.app].map { .seconds(1) / $0 } ?? Duration.zero
        if interval != self.interval {
            self.interval = interval
            permits = interval == .zero ? nil : PermitRow(interval: interval)
        }
        if settings.inFlight > hired {
            hirer.yield(settings.inFlight - hired)
            hired = settings.inFlight
        }
        refillBell.ring()
        paceBell.ring()
    }

    /// Something may be due.
    nonisolated func wake() { refillBell.ring() }

    /// Waits for a place in the row of calls, for a call beyond the first of a check.
    func extraCall() async {
        if hasEnded || (callers.isEmpty && permits?.take(at: .now) != false) { return }
        await withCheckedContinuation { caller in
            callers.append(caller)
            beat()
            paceBell.ring()
        }
    }

    /// Lets those go on who wait for a call and have a place now.
    private func serveCallers() {
        let now = ContinuousClock.now
        let served = callers.prefix { _ in permits?.take(at: now) != false }
        guard !served.isEmpty else { return }
        callers.removeFirst(served.count)
        beat()
        for caller in served { caller.resume() }
    }

    /// A check that waits for its turn to call is not stuck, however long that takes.
    private func beat() {
        controls.heartbeat.expect(
            .checks(lane.app), within: settings.stallLimit, unless: inFlight <= callers.count)
    }

    // MARK: Checking

    private nonisolated func work() async {
        while let claim = await next() {
            let began = ContinuousClock.now
            let hearing = await ports.ask(claim)
            let jitter = Double.random(in: 0..<1)
            await finish(hearing.answer, jitter: jitter)
            await heed(hearing.answer)
            // A check that a stop has cut short has not failed: it is simply asked again.
            if !Task.isCancelled {
                let moment = Moment(
                    now: claim.claimedAt + (ContinuousClock.now - began), jitter: jitter)
                await committer.submit(
                    ports.outcome(of: claim, hearing, at: moment, under: settings.rules))
            } else {
                inHand.remove(CollectionOfOne(claim))
            }
            await settled()
        }
    }

    /// A store that asks for fewer calls speaks to all workers, not to this one alone.
    private nonisolated func heed(_ answer: Answer) async {
        guard case .failure(.throttled(let retryAfter?)) = answer else { return }
        do {
            try await ports.block(lane.app, retryAfter)
        } catch {
            log.debug("\(lane.title): other workers cannot be told to wait: \(error.sentence)")
        }
    }

    private func next() async -> Claim? {
        if let claim = start() { return claim }
        if hasEnded { return nil }
        return await withCheckedContinuation { waiters.append($0) }
    }

    /// The next claim, if everything lets it start now.
    private func start() -> Claim? {
        guard !hasEnded, inFlight < window, committer.trouble == nil else { return nil }
        while let claim = buffer.last, !leases.mayStart(claim.shard) {
            buffer.removeLast()
            inHand.remove(CollectionOfOne(claim))
        }
        guard !buffer.isEmpty else { return nil }
        let now = ContinuousClock.now
        guard callers.isEmpty, circuit.wouldAdmit(at: engineTime),
            permits?.wouldTake(at: now) ?? true
        else {
            paceBell.ring()
            return nil
        }
        guard slots.take(lane.number, orCall: { [weak self] in self?.supplyLater() }) else {
            return nil
        }
        _ = permits?.take(at: now)
        _ = circuit.admits(at: engineTime)
        inFlight += 1
        beat()
        unsettled += 1
        if buffer.count <= lowWater { refillBell.ring() }
        return buffer.removeLast()
    }

    /// Starts as many checks as may start.
    private func supply() {
        while !waiters.isEmpty, let claim = start() {
            waiters.removeLast().resume(returning: claim)
        }
    }

    private nonisolated func supplyLater() { paceBell.ring() }

    private func finish(_ answer: Answer, jitter: Double) {
        inFlight -= 1
        beat()
        slots.give(lane.number)
        let before = circuit.position
        switch answer {
        case .verdict, .contested, .doubt:
            circuit.succeeded()
            window = min(window + 8, settings.inFlight)
        case .failure(let failure):
            circuit.failed(failure, at: engineTime, jitter: jitter)
            if failure.concernsWholeApp { window = max(window / 2, 1) }
            if before == .closed, circuit.position == .open {
                log.circuitOpened(of: lane, failure)
            }
        }
        if before != .closed, circuit.position == .closed { log.circuitClosed(of: lane) }
        if circuit.position != before { ports.circuitMoved(lane.app, circuit) }
        if circuit.position == .closed { supply() } else { paceBell.ring() }
    }

    private func settled() {
        unsettled -= 1
        if unsettled == 0 { refillBell.ring() }
    }

    // MARK: Claiming

    /// The buffer is filled up when it holds no more than this.
    private var lowWater: Int { settings.inFlight }

    private func refillLoop() async {
        // Also a cancelled task must let go of who waits for a claim.
        defer {
            stop()
            controls.heartbeat.rest(.queue(lane.app))
        }
        while !hasEnded, !Task.isCancelled {
            controls.heartbeat.expect(
                .queue(lane.app), within: settings.poll + settings.stallLimit)
            guard buffer.count <= lowWater, mayAsk else {
                if mode != .forever, passIsDone(.fault) { return }
                await refillBell.wait(upTo: settings.poll)
                continue
            }
            let found = await refill()
            supply()
            if found == .more { continue }
            if case .onePass = mode {
                if passIsDone(found) { return stop() }
                await refillBell.wait(upTo: min(settings.poll, .milliseconds(50)))
            } else {
                await refillBell.wait(upTo: settings.poll)
            }
        }
    }

    private enum Found { case more, nothingNew, nothing, fault }

    /// Whether the pass is over: nothing is left, or the store is down, or the budget is spent.
    private func passIsDone(_ found: Found) -> Bool {
        guard unsettled == 0, buffer.isEmpty || !mayAsk else { return false }
        return found == .nothing || !mayAsk || budget.isSpent || leases.lease.epochs.isEmpty
    }

    /// Whether the circuit lets any call start, now or as a probe, and the answer can be kept.
    private var mayAsk: Bool {
        switch circuit.position {
        case _ where committer.hasGivenUp: false
        case .closed, .probing: true
        case .open: mode == .forever && circuit.wouldAdmit(at: engineTime)
        }
    }

    private func refill() async -> Found {
        let shards = leases.openShards
        guard !shards.isEmpty, !budget.isSpent else { return .nothing }
        let wanted = circuit.position == .closed ? max(2 * lowWater - buffer.count, 16) : 1
        let from = shards.shuffled().map { places[$0] ?? .start(of: $0) }
        do {
            // A batch from few shards locks few rows of the leases' table.
            let perShard = max(wanted / 8, 16)
            inHand.beginReading(lane.number)
            var claims = try await ports.claim(lane, from, perShard, wanted)
            log.trace("\(lane.title): \(claims.count) claims from \(shards.count) shards")
            guard !claims.isEmpty else {
                defer {
                    places = [:]
                    hasFound = false
                }
                // What became due behind the places read so far is found from the start, at once.
                if mode == .forever, !places.isEmpty { return .more }
                return hasFound ? .nothingNew : .nothing
            }
            for claim in claims { advance(beyond: claim) }
            if mode != .forever {
                let end = cutoff ?? claims[0].claimedAt
                cutoff = end
                claims = claims.filter { $0.dueAt <= end }
            }
            hasFound = hasFound || !claims.isEmpty
            let found = inHand.add(claims)
            let fresh = budget.take(found)
            inHand.remove(found.dropFirst(fresh.count))
            // One pass goes on to the end of what is due before it says that nothing is left.
            guard !fresh.isEmpty else {
                guard mode == .forever else { return .more }
                places = [:]
                return .nothingNew
            }
            try await mark(fresh)
            return .more
        } catch {
            log.debug("\(lane.title): cannot claim: \(error.sentence)")
            return .fault
        }
    }

    /// Notes the claims as in hand; those of a shard that is not ours any more are let go.
    private func mark(_ claims: [Claim]) async throws(PortError) {
        let touched = Set(claims.map(\.shard))
        let owned: Set<Int16>
        do throws(PortError) {
            owned = try await ports.mark(inHand.ids(ofShards: touched), leases.lease)
        } catch {
            inHand.remove(claims)
            throw error
        }
        inHand.remove(claims.filter { !owned.contains($0.shard) })
        if owned.count < touched.count { leases.doubt.ring() }
        // The buffer is emptied from its end: the oldest last.
        let kept = claims.filter { owned.contains($0.shard) }.sorted { $0.dueAt > $1.dueAt }
        buffer.insert(contentsOf: kept, at: 0)
    }

    private func advance(beyond claim: Claim) {
        let place = places[claim.shard] ?? .start(of: claim.shard)
        let id = claim.purchase.id
        if (claim.dueAt, id) > (place.dueAt, place.id) {
            places[claim.shard] = Place(shard: claim.shard, dueAt: claim.dueAt, id: id)
        }
    }

    // MARK: Pacing

    private func paceLoop() async {
        while !hasEnded, !Task.isCancelled {
            let startable =
                waiters.isEmpty || committer.trouble != nil
                ? 0 : max(min(buffer.count, window - inFlight), 0)
            if startable + callers.count == 0 {
                await paceBell.wait(upTo: settings.poll)
            } else if callers.isEmpty, !circuit.wouldAdmit(at: engineTime) {
                let pause = (circuit.opensUntil ?? engineTime) - engineTime
                await paceBell.wait(upTo: pause.clamped(.milliseconds(10), settings.poll))
            } else if permits?.wouldTake(at: .now) == false {
                await waitForPermit(wanted: startable + callers.count)
            } else if callers.isEmpty {
                await paceBell.wait(upTo: settings.poll)
            }
            serveCallers()
            supply()
        }
    }

    /// Waits until the next place in the row, reserving more where there is none.
    private func waitForPermit(wanted: Int) async {
        let now = ContinuousClock.now
        if let opensAt = permits?.opensAt(now) {
            if opensAt > now { try? await Task.sleep(until: opensAt) }
            return
        }
        let count = PermitRow.slice(wanted: wanted, interval: interval)
        do {
            guard let stretch = permits?.stretch(count) else { return }
            let sent = ContinuousClock.now
            let wait = try await ports.reserve(lane.app, count, stretch)
            permits?.reserve(count, in: wait, sent: sent, answered: .now)
        } catch {
            log.debug("\(lane.title): cannot reserve calls: \(error.sentence)")
            try? await Task.sleep(for: settings.poll)
        }
    }

    /// The circuit's clock: monotonic, since the start.
    private var engineTime: Timestamp {
        Timestamp(microsecondsSinceEpoch: (ContinuousClock.now - startedAt).microseconds)
    }
}
