import Renewal

/// One app's queue as a machine: what has happened goes in, what is to be done comes out. It
/// decides how much is claimed, when a check may start and when the queue has nothing more to do.
/// Pure: time and chance are passed in, and whoever acts for it reports back.
struct QueueMachine {
    typealias Instant = ContinuousClock.Instant

    /// What is set from outside and may change while it runs.
    struct Limits: Hashable {
        /// Checks under way at once.
        var inFlight: Int
        /// How often a queue is looked at that has something in hand and nothing left to claim.
        var poll: Duration
        /// How long one pass bears a database that does not answer.
        var patience: Duration
        /// From one call to the next; nil where calls are not paced.
        var interval: Duration?
    }

    /// Whether outcomes can be committed.
    enum Commits: Hashable {
        case flow
        /// The database does not take them: their answers would have to wait.
        case wait
        /// They are dropped, and one pass or a stop has nothing more to hope for.
        case givenUp
    }

    enum Event {
        /// Something may be due, a slot may be free, or a wait is over.
        case tick
        case limits(Limits)
        /// The configuration was read anew.
        case reloaded
        case commits(Commits)
        /// Claims that were read, from no more shards than are ours, with the ids of those among
        /// them that rest: another session holds their rows. And those that became due last.
        case read([Claim], resting: Set<Int64> = [], latest: [Claim] = [])
        /// There is nothing to read from: no shard is ours, or one pass may make no more checks.
        case nothingToRead
        /// Of the claims that were read so many were not in hand; these are noted as in hand now.
        case kept([Claim], fresh: Int)
        case readFailed(isLasting: Bool)
        /// When the oldest of each shard is due; of shards that are not named nobody knows.
        case fronts([Int16: Timestamp])
        /// So many slots were taken.
        case slots(Int)
        /// The claim was not started, as another worker may have its shard, or a stop has cut it
        /// short.
        case notStarted
        /// A store has answered a check that began then.
        case answered(Answer, since: Instant, jitter: Double)
        /// A check has nothing more to do: its outcome was handed over.
        case settled
        /// A check waits for a call beyond its first.
        case extraCall(Int)
        case reserved(Reservation, calls: Int, sent: Instant, answered: Instant)
        case reservationFailed(isLasting: Bool)
        /// No further check is started.
        case stop
    }

    enum Action: Hashable {
        /// Read so many claims, from `place(of:)` of each shard on, then from `backfillPlace(of:)`;
        /// where more are due, also so many of those that became due last.
        case read(limit: Int, latest: Int)
        /// Look when the oldest of each shard is due.
        case lookAtFronts
        /// Note these as in hand, then report which are.
        case keep([Claim])
        /// Take slots, so many at most, and report how many there were.
        case takeSlots(Int)
        case giveSlot
        case start(Claim, CallPlace)
        /// Let the check that waits make its further call.
        case admit(Int, CallPlace)
        /// It has to take its place by itself: there is no session any more.
        case turnAway(Int)
        /// Reserve calls in the row that all workers share.
        case reserve(calls: Int, stretch: Duration)
        case circuitOpened(StoreFailure)
        case circuitClosed
        case circuitMoved
        case paceMoved
        /// The queue has nothing more to do.
        case end
    }

    /// Checks under way at once until the store has shown that it answers.
    static let firstWindow = 8
    static let faultPause = Duration.seconds(5)
    static let passPause = Duration.milliseconds(50)
    /// For longer one pass does not wait for a place in the row of calls.
    static let longestPassWait = Duration.minutes(2)
    /// A stretch of the row that is full is asked for again no sooner.
    static let leastWait = Duration.milliseconds(5)
    /// How long further calls wait for the answer to the first of a session.
    static let connectLimit = Duration.seconds(2)

    let mode: RunMode
    let startedAt: Instant
    var limits: Limits
    private(set) var commits = Commits.flow
    private(set) var isInSession = false
    /// When something was last done about it.
    private(set) var lookedAt: Instant
    var isStopping = false

    // What is due.
    /// The oldest last; what waits behind all that is due before that.
    var buffer: [Claim] = []
    var places: [Int16: Place] = [:]
    /// Of what waits behind all that is due.
    var backfillPlaces: [Int16: Place] = [:]
    /// Whether anything for this run was found since the places were last at the start.
    var hasFound = false
    /// Whether something that rests was found since then.
    var hasPassed = false
    /// When the oldest of each shard is due, where more is due than was read.
    var fronts: [Int16: Timestamp] = [:]
    var isLookingAtFronts = false
    /// How many claims were asked for last.
    var readLimit = 0
    /// Those among what is being kept that became due last: they are checked first.
    var ahead: Set<Int64> = []
    /// What became due last is asked for no sooner.
    var latestAt: Instant
    /// The database's time when claims were read last, and when that was by our clock.
    var told: (time: Timestamp, at: Instant)?
    /// In one pass: what becomes due after it began is left to the next.
    var cutoff: Timestamp?
    var failingSince: Instant?
    var isReading = false
    var readAt: Instant
    /// The last look has found nothing at all.
    var hasNothing = false
    /// One pass has found nothing more while nothing was under way.
    var isPassDone = false

    // What is under way.
    var inFlight = 0
    /// Claims that were started and have not settled.
    var unsettled = 0
    var window = firstWindow
    var circuit = StoreCircuit()

    // The rate.
    var permits: RateReservation?
    /// What the store bears of the calls that are configured.
    var pace = CallPace()
    /// From one call to the next, as they are being reserved.
    var reservedInterval: Duration?
    /// When the stretch that was reserved last ends, by the database's clock.
    var reservedUntil: Timestamp?
    var isReserving = false
    /// Since when the database does not let calls be reserved.
    var unreservedSince: Instant?
    var reserveAt: Instant
    /// When calls may follow the first one of this session: with its answer, or two seconds after
    /// its start; nil before it. It opens a connection, which takes longer than the row is left
    /// free for: what starts right behind it would arrive together with it. Its own further calls
    /// go ahead.
    var followsAt: Instant?
    /// Checks that wait for a call beyond their first. They go before any further check, so that
    /// what was begun gets done.
    var callers: [Int] = []

    init(_ mode: RunMode, _ limits: Limits, at now: Instant) {
        self.mode = mode
        self.limits = limits
        startedAt = now
        lookedAt = now
        readAt = now
        latestAt = now
        reserveAt = now
        permits = limits.interval.map { RateReservation(interval: $0) }
    }

    /// Begins another session: something is due again.
    mutating func begin(at now: Instant) {
        guard !isStopping else { return }
        isInSession = true
        hasNothing = false
        isReading = false
        isReserving = false
        followsAt = nil
        isLookingAtFronts = false
        readAt = now
        reserveAt = now
    }

    /// Ends the session: gives what was claimed and not started.
    mutating func takeBuffer() -> [Claim] {
        defer {
            buffer = []
            beginAgain()
        }
        return buffer
    }

    /// From where on a shard is read.
    func place(of shard: Int16) -> Place { places[shard] ?? .start(of: shard) }

    func backfillPlace(of shard: Int16) -> Place {
        backfillPlaces[shard] ?? .startOfBackfill(of: shard)
    }

    mutating func on(_ event: Event, at now: Instant) -> [Action] {
        lookedAt = now
        var actions = take(event, at: now)
        guard isInSession else { return actions }
        actions += serveCallers(at: now)
        if case .slots = event {} else { actions += wantSlots(at: now) }
        actions += reserve(at: now)
        actions += read(at: now)
        if isDone(at: now) {
            isInSession = false
            actions.append(.end)
        }
        return actions
    }
}

// Events.
extension QueueMachine {
    private mutating func take(_ event: Event, at now: Instant) -> [Action] {
        switch event {
        case .tick: return []
        case .limits(let limits):
            let isSlowed = pace.share < 1
            if limits.interval != self.limits.interval {
                permits = limits.interval.map { RateReservation(interval: $0) }
                pace = CallPace()
                reservedUntil = nil
                reserveAt = now
            }
            self.limits = limits
            readAt = min(readAt, now)
            return isSlowed && pace.share == 1 ? [.paceMoved] : []
        case .reloaded:
            circuit.retry(at: time(now))
            return []
        case .commits(let commits):
            self.commits = commits
            return []
        case .read, .nothingToRead, .kept, .readFailed, .fronts:
            return takeReading(event, at: now)
        case .slots(let count): return start(count, at: now)
        case .notStarted:
            inFlight -= 1
            unsettled -= 1
            circuit.abandonProbe()
            return [.giveSlot]
        case .answered(let answer, let start, let jitter):
            return answered(answer, since: start, jitter, at: now)
        case .settled:
            unsettled -= 1
            return []
        case .extraCall(let caller):
            callers.append(caller)
            return isInSession ? [] : turnAllAway()
        case .reserved(let reservation, let calls, let sent, let answered):
            isReserving = false
            unreservedSince = nil
            switch reservation {
            case .granted(let wait, let until):
                permits?.reserve(
                    calls, every: reservedInterval, in: wait, sent: sent, answered: answered)
                reservedUntil = until
            case .askAgain(let wait):
                // A store may ask for an hour: one pass leaves the rest to the next one.
                if mode != .forever, wait > Self.longestPassWait { return stop() }
                reserveAt = now + wait.clamped(Self.leastWait, limits.poll)
            case .paused:
                reserveAt = now + limits.poll
                // One pass has nothing more to hope for.
                if mode != .forever { return stop() }
            }
            return []
        case .reservationFailed(let isLasting):
            isReserving = false
            reserveAt = now + limits.poll
            unreservedSince = unreservedSince ?? now
            let isTooLong = unreservedSince.map { now - $0 > limits.patience } ?? false
            return mode != .forever && (isLasting || isTooLong) ? stop() : []
        case .stop: return stop()
        }
    }

    mutating func stop() -> [Action] {
        isStopping = true
        let left = leaveStore()
        guard isInSession else { return left + turnAllAway() }
        isInSession = false
        return left + turnAllAway() + [.end]
    }

    /// What is known of the store ends with the queue: another one begins anew.
    private mutating func leaveStore() -> [Action] {
        var actions: [Action] = []
        if circuit.position != .closed { actions.append(.circuitMoved) }
        if pace.share < 1 { actions.append(.paceMoved) }
        (circuit, pace) = (StoreCircuit(), CallPace())
        return actions
    }

    private mutating func turnAllAway() -> [Action] {
        defer { callers = [] }
        return callers.map { .turnAway($0) }
    }

    private mutating func answered(
        _ answer: Answer, since start: Instant, _ jitter: Double, at now: Instant
    ) -> [Action] {
        inFlight -= 1
        followsAt = now
        guard !isStopping else { return [.giveSlot] }
        var actions: [Action] = [.giveSlot]
        let (before, share) = (circuit.position, pace.share)
        switch answer {
        case .verdict, .contested, .doubt:
            circuit.succeeded(startedAt: time(start))
            pace.answered(at: now)
            window = min(window + 8, limits.inFlight)
        case .failure(let failure):
            circuit.failed(failure, startedAt: time(start), at: time(now), jitter: jitter)
            if failure.concernsWholeApp { window = max(window / 2, 1) }
            if before == .closed, circuit.position == .open {
                actions.append(.circuitOpened(failure))
            }
            if before != .open, circuit.position == .open, case .throttled = failure {
                pace.throttled(at: now)
            }
        }
        if before != .closed, circuit.position == .closed { actions.append(.circuitClosed) }
        if circuit.position != before { actions.append(.circuitMoved) }
        if pace.share != share { actions.append(.paceMoved) }
        return actions
    }

    /// The circuit's clock: since the start.
    @inline(__always)
    func time(_ now: Instant) -> Timestamp {
        Timestamp(microsecondsSinceEpoch: (now - startedAt).microseconds)
    }
}

// What shows that checks advance: that time passes does not.
extension QueueMachine.Event {
    var isStep: Bool {
        switch self {
        case .answered, .notStarted, .extraCall: true
        case .tick, .limits, .reloaded, .commits, .read, .nothingToRead, .kept, .readFailed,
            .fronts, .slots,
            .settled, .reserved, .reservationFailed, .stop:
            false
        }
    }
}

extension QueueMachine.Action {
    var isStep: Bool {
        switch self {
        case .start, .admit, .turnAway: true
        case .read, .lookAtFronts, .keep, .takeSlots, .giveSlot, .reserve, .circuitOpened,
            .circuitClosed, .circuitMoved, .paceMoved, .end:
            false
        }
    }
}
