import Logging
import Renewal

/// One app's queue: claims what is due, starts checks within the rate, the circuit and the slots,
/// and hands each outcome to the committer.
///
/// It works in sessions: from the moment that something is due until nothing is. Between them it
/// has no task. Within one each check has a worker, hired when the check may start; a worker whose
/// check is done takes the next one, or leaves. Whatever may let a check start (a claim, a slot, a
/// permit, a success) calls `supply`.
actor LaneRunner {
    nonisolated let lane: Lane
    let mode: RunMode
    nonisolated let controls: Controls
    let ports: Ports
    private let slots: Slots
    let leases: LeaseBook
    let inHand: InHand
    let committer: Committer
    let budget: Budget
    let faults: StandingFaults
    let log: Logger
    nonisolated let refillBell = Doorbell()
    nonisolated let paceBell = Doorbell()

    var buffer: [Claim] = []
    var places: [Int16: Place] = [:]
    /// Whether anything for this run was found since the places were last at the start.
    var hasFound = false
    /// In one pass: what becomes due after it began is left to the next.
    var cutoff: Timestamp?
    /// When the claims of this session began to fail; nil while they succeed.
    var failingSince: ContinuousClock.Instant?
    private var inFlight = 0
    /// Claims handed to workers and not yet handed to the committer.
    private(set) var unsettled = 0
    private var window = firstWindow
    private(set) var circuit = Circuit()
    var permits: PermitRow?
    private(set) var interval = Duration.zero
    /// Workers of this session.
    private var employed = 0
    /// Where workers are hired; nil between two sessions.
    private var hirer: AsyncStream<Claim>.Continuation?
    /// Checks that wait for a place in the row of calls, for a call beyond their first. Served
    /// before any further check starts, so that what was begun gets done.
    private(set) var callers: [CheckedContinuation<Void, Never>] = []
    private(set) var hasEnded = false
    private let startedAt = ContinuousClock.now

    /// Checks under way at once until the store has shown that it answers.
    private static let firstWindow = 8

    init(
        _ lane: Lane, mode: RunMode, controls: Controls, ports: Ports, slots: Slots,
        leases: LeaseBook, inHand: InHand, committer: Committer, budget: Budget,
        faults: StandingFaults, log: Logger
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
        self.faults = faults
        self.log = log
        slots.enter(lane.number)
    }

    nonisolated var settings: EngineSettings { controls.settings }

    /// One session: runs until nothing is due any more, until `stop`, or until one pass is done.
    func run() async {
        let (hirings, hirer) = AsyncStream.makeStream(of: Claim.self)
        self.hirer = hirer
        refillBell.silence()
        paceBell.silence()
        followRate()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.refillLoop() }
            group.addTask { await self.paceLoop() }
            for await claim in hirings { group.addTask { await self.work(claim) } }
        }
        inHand.remove(buffer)
        inHand.endReading(lane.number)
        buffer = []
        places = [:]
    }

    /// No further check is started; those in hand are finished.
    func stop() {
        hasEnded = true
        endSession()
    }

    /// Both loops end, and nobody is hired any more.
    func endSession() {
        hirer?.finish()
        hirer = nil
        for caller in callers { caller.resume() }
        callers = []
        refillBell.ring()
        paceBell.ring()
    }

    var isInSession: Bool { hirer != nil && !hasEnded && !Task.isCancelled }

    /// Follows the settings as they are now. Checks under way are not touched.
    func adapt() {
        followRate()
        refillBell.ring()
        paceBell.ring()
    }

    private func followRate() {
        let interval = settings.callsPerSecond[lane.app].map { .seconds(1) / $0 } ?? Duration.zero
        if interval != self.interval {
            self.interval = interval
            permits = interval == .zero ? nil : PermitRow(interval: interval)
        }
    }

    /// Something may be due.
    nonisolated func wake() { refillBell.ring() }

    /// Waits for a place in the row of calls, for a call beyond the first of a check, or for news.
    /// Between two sessions nothing of the app is asked here, and nobody would serve the row: then
    /// a call for news goes ahead.
    func extraCall() async {
        if hirer == nil || hasEnded || (callers.isEmpty && permits?.take(at: .now) != false) {
            return
        }
        await withCheckedContinuation { caller in
            callers.append(caller)
            beat()
            paceBell.ring()
        }
    }

    /// Lets those go on who wait for a call and have a place now.
    func serveCallers() {
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

    private nonisolated func work(_ first: Claim) async {
        var next: Claim? = first
        while let claim = next {
            let began = ContinuousClock.now
            let hearing = await ports.ask(claim)
            let jitter = Double.random(in: 0..<1)
            await finish(hearing.answer, jitter: jitter)
            await heed(hearing.answer)
            // A check that a stop has cut short, or whose app a reload has just taken away, has not
            // failed: it stays due.
            if !Task.isCancelled, hearing.answer != .failure(.notConfigured) {
                let moment = claim.moment(
                    of: hearing, after: ContinuousClock.now - began, jitter: jitter)
                await committer.submit(
                    ports.outcome(of: claim, hearing, at: moment, under: settings.rules))
            } else {
                inHand.remove(CollectionOfOne(claim))
            }
            next = await settled()
        }
    }

    /// A store that asks for fewer calls speaks to all workers, not to this one alone.
    private nonisolated func heed(_ answer: Answer) async {
        guard case .failure(.throttled(let retryAfter?)) = answer else { return }
        do {
            try await ports.block(lane.app, retryAfter)
        } catch {
            faults.met(error, by: .quota(lane.app))
            log.debug("\(lane.title): other workers cannot be told to wait: \(error.sentence)")
        }
    }

    /// The next claim, if everything lets it start now.
    private func start() -> Claim? {
        guard isInSession, inFlight < window, committer.trouble == nil else { return nil }
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
    func supply() {
        while employed < settings.inFlight, let hirer, let claim = start() {
            employed += 1
            hirer.yield(claim)
        }
    }

    /// How many checks could start if there were permits for them.
    var startable: Int {
        employed >= settings.inFlight || committer.trouble != nil
            ? 0 : max(min(buffer.count, window - inFlight), 0)
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

    /// The worker's check is done: gives it the next one, or lets it go.
    private func settled() -> Claim? {
        unsettled -= 1
        if unsettled == 0 { refillBell.ring() }
        if employed <= settings.inFlight, let claim = start() { return claim }
        employed -= 1
        return nil
    }

    /// The circuit's clock: monotonic, since the start.
    var engineTime: Timestamp {
        Timestamp(microsecondsSinceEpoch: (ContinuousClock.now - startedAt).microseconds)
    }
}
