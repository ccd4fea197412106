import Renewal

/// One app's queue: acts for `QueueMachine`, which decides. Claims what is due, asks the store, and
/// hands each outcome to the committer.
///
/// It works in sessions: from the moment that something is due until nothing is. Within one, each
/// check under way has a task, which goes on with the next claim; between them there is none.
actor AppQueue {
    nonisolated let lane: Lane
    /// For longer than a store may take to answer nobody waits.
    private static let longestWaitForNewcomers = Duration.seconds(5)
    private nonisolated let context: RunContext
    private nonisolated let committer: Committer
    private nonisolated let work: QueueWork
    private let slots: ConcurrencyLimit
    private var machine: QueueMachine
    /// Where tasks begin; nil between two sessions.
    private var jobs: AsyncStream<QueueJob>.Continuation?
    private var callers: [Int: CheckedContinuation<CallPlace?, Never>] = [:]
    private var lastCaller = 0
    private let wakeUp = AsyncEvent()
    /// When the machine is looked after next, should nothing happen before.
    private var wakesAt: ContinuousClock.Instant?

    init(
        _ lane: Lane, _ context: RunContext, _ committer: Committer, slots: ConcurrencyLimit,
        budget: PassLimit
    ) {
        self.lane = lane
        self.context = context
        self.committer = committer
        self.slots = slots
        work = QueueWork(lane: lane, context: context, budget: budget)
        machine = QueueMachine(context.mode, context.limits(of: lane.app), at: .now)
        slots.enter(lane.number)
    }

    /// One session: runs until nothing is due any more, until `stop`, or until one pass is done.
    /// The permit is for the calls of each check beyond its first.
    func run(_ permit: CallPermit) async {
        let (jobs, starter) = AsyncStream.makeStream(of: QueueJob.self)
        self.jobs = starter
        wakeUp.reset()
        machine.begin(at: .now)
        take(.limits(context.limits(of: lane.app)))
        guard machine.isInSession else { return }
        expectLook()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.lookAfterMachine() }
            for await job in jobs { group.addTask { await self.perform(job, permit) } }
        }
        context.inFlight.remove(machine.takeBuffer())
        context.inFlight.endReading(lane.number)
        await giveBackCalls()
    }

    /// No further check is started; those in hand are finished.
    func stop() { take(.stop) }

    /// Follows the settings as they are now. Checks under way are not touched.
    func adapt() {
        take(.limits(context.limits(of: lane.app)))
        take(.reloaded)
    }

    /// Something may be due.
    nonisolated func wake() { wakeUp.signal() }

    /// Waits for a place in the row of calls, for a call beyond the first of a check.
    ///
    /// - Returns: nil without one: between two sessions nobody gives any.
    func extraCall() async -> CallPlace? {
        await withCheckedContinuation { caller in
            lastCaller += 1
            callers[lastCaller] = caller
            take(.extraCall(lastCaller))
        }
    }

    private func expectLook() {
        context.heartbeat.expect(
            .queue(lane.app), within: context.settings.poll + context.settings.stallLimit)
    }

    private func lookAfterMachine() async {
        // Also a cancelled task must let go of who waits.
        defer {
            if Task.isCancelled { take(.stop) }
            context.heartbeat.rest(.queue(lane.app))
        }
        while machine.isInSession, !Task.isCancelled {
            expectLook()
            take(.tick)
            let next = machine.wakesAt(after: .now)
            wakesAt = next
            await wakeUp.wait(upTo: next - .now)
            wakesAt = nil
        }
        await giveBackCalls()
    }

    /// After a stop: nobody starts a call any more.
    private func giveBackCalls() async {
        guard let unused = machine.callsToGiveBack(at: .now, of: lane.app) else { return }
        await work.giveBack(unused)
    }
}

// What the machine wants done, and what of it takes time.
extension AppQueue {
    /// Reports to the machine and does what it says.
    private func take(_ event: QueueMachine.Event) {
        if let first = react(to: event) { jobs?.yield(.check(first.claim, first.place)) }
    }

    /// - Returns: the first claim to be checked, for a task that has just become free.
    private func react(
        to event: QueueMachine.Event
    ) -> (claim: Claim, place: CallPlace)? {
        var first: (Claim, CallPlace)?
        var events = [event]
        if committer.commits != machine.commits { events.append(.commits(committer.commits)) }
        while let event = events.popLast() {
            let actions = machine.on(event, at: .now)
            if event.isStep || actions.contains(where: \.isStep) { beat() }
            for action in actions {
                switch action {
                case .start(let claim, let place):
                    if !context.leases.mayStart(claim.shard) {
                        context.inFlight.remove(CollectionOfOne(claim))
                        events.append(.notStarted)
                    } else if first == nil {
                        first = (claim, place)
                    } else {
                        jobs?.yield(.check(claim, place))
                    }
                case .takeSlots(let count):
                    events.append(.slots(slots.take(count, lane.number, orCall: wakeUp.signal)))
                default: act(action)
                }
            }
        }
        if let wakesAt, machine.wakesAt(after: .now) < wakesAt { wakeUp.signal() }
        return first
    }

    private func act(_ action: QueueMachine.Action) {
        if let job = QueueJob(action) { jobs?.yield(job) }
        switch action {
        case .start, .takeSlots, .read, .lookAtFronts, .keep, .reserve: break
        case .giveSlot: slots.give(lane.number)
        case .admit(let caller, let place):
            callers.removeValue(forKey: caller)?.resume(returning: place)
        case .turnAway(let caller): callers.removeValue(forKey: caller)?.resume(returning: nil)
        case .circuitOpened(let failure): context.log.circuitOpened(of: lane, failure)
        case .circuitClosed: context.log.circuitClosed(of: lane)
        case .circuitMoved:
            context.services.observer.circuitMoved(of: lane.app, to: machine.circuit)
        case .paceMoved: context.services.observer.paceMoved(of: lane.app, to: machine.pace.share)
        case .end:
            jobs?.finish()
            jobs = nil
            wakeUp.signal()
        }
    }

    /// The checks have made a step. One that waits for its turn to call is not stuck.
    private func beat() {
        context.heartbeat.expect(
            .checks(lane.app), within: context.settings.stallLimit,
            unless: machine.inFlight <= machine.callers.count)
    }

    private nonisolated func perform(_ job: QueueJob, _ permit: CallPermit) async {
        switch job {
        case .check(let claim, let place): await check(claim, at: place, permit)
        case .read(let limit, let latest):
            let (places, backfill) = await places(of: context.leases.openShards)
            await take(work.read(limit, from: places, behind: backfill, latest: latest))
        case .lookAtFronts: await take(work.fronts(of: context.leases.openShards))
        case .keep(let claims): await take(work.keep(claims))
        case .reserve(let calls, let stretch): await take(work.reserve(calls, stretch))
        }
    }

    private func places(of shards: [Int16]) -> ([Place], backfill: [Place]) {
        machine.places(of: shards.fromAnywhere())
    }

    private nonisolated func check(
        _ first: Claim, at place: CallPlace, _ permit: CallPermit
    ) async {
        var next: (Claim, CallPlace)? = (first, place)
        while let (claim, place) = next {
            let pass = context.pass
            let start = ContinuousClock.now
            let check = await pass.ask(claim, permit.beginning(at: place))
            let answer = check.call.answer
            // A check that a stop has cut short has not failed, and its purchase stays due.
            guard !Task.isCancelled else {
                context.inFlight.remove(CollectionOfOne(claim))
                next = await react(to: .notStarted)
                continue
            }
            await take(.answered(answer, since: start, jitter: check.moment.jitter))
            await context.shareRetryAfter(answer, of: lane.app)
            if !Task.isCancelled, check.isToBeDecided {
                let outcome = pass.decide(check)
                if outcome.takes {
                    await context.inFlight.newcomers.wait(
                        for: claim.purchase.userID, upTo: Self.longestWaitForNewcomers)
                }
                await committer.submit(outcome)
            } else {
                context.inFlight.remove(CollectionOfOne(claim))
            }
            next = await react(to: .settled)
        }
    }
}
