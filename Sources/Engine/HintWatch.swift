import Renewal

/// Decides what is done about all sources of hints: which to ask the database for, which to read
/// now, what to tell when they were read, and when to look again. One round with the database
/// serves them all. Pure: time is passed in.
///
/// Calls are bounded for each endpoint, so that a store that hangs takes none of another's; sources
/// that fail share a part of those, so that dead ones hold up no other. One that waits for its turn
/// to call holds up nobody.
struct HintWatch {
    typealias Instant = ContinuousClock.Instant

    /// Sources of one endpoint that are read at once.
    static let readLimit = 64
    /// Of those, sources whose last reading has failed.
    static let failingLimit = 16
    /// Sources of one endpoint that this worker takes at once: others may have the rest.
    static let holdLimit = 256
    /// How long the database is left alone after a round that failed.
    static let databasePause = Duration.seconds(5)

    /// A reading that may begin.
    struct Start: Hashable {
        let source: SourceID
        let place: HintCursor
        /// The database's time, and when it was that.
        let now: Timestamp
        let toldAt: Instant
        /// How long before it is due.
        var early = Duration.zero
    }

    private enum State {
        /// Not ours; wanted from then on.
        case idle(until: Instant)
        /// Wanted in the round under way.
        case wanted
        /// Ours; waits for a place among those that are read.
        case granted(Start)
        /// Ours; `waits` for its turn to call.
        case reading(waits: Bool)
        /// Ours until this is told; the time is when it is due again.
        case ended(HintReading, due: Instant)
        /// Told in the round under way.
        case telling(HintReading, due: Instant)
        /// One pass: no more to do.
        case done
    }

    private struct Entry {
        var endpoint: EndpointID
        var state: State
        /// While ours: when the lease is to be renewed.
        var renewAt: Instant
        /// Whether its last reading has failed, as far as is known.
        var isFailing = false
        /// Not to be read any more.
        var isLeaving = false
        /// Whether its calls are limited by the day.
        var isLimited = false
    }

    private var entries: [SourceID: Entry] = [:]
    private let isOnePass: Bool
    private var isStopping = false
    private var isUnderWay = false
    private var roundAt: Instant?
    private var pausesUntil: Instant?
    /// Granted and not begun, in turn.
    private var queue: [SourceID] = []

    init(isOnePass: Bool) { self.isOnePass = isOnePass }

    // MARK: From outside

    /// Reads these sources from now on and no others.
    ///
    /// Calls of those that are `limited` have a budget for the day.
    ///
    /// - Returns: those that have come and those that have gone.
    mutating func follow(
        _ sources: [(name: SourceID, endpoint: EndpointID)], limited: Set<SourceID> = [],
        at now: Instant
    ) -> (come: [SourceID], gone: [SourceID]) {
        let wanted = Dictionary(sources.map { ($0.name, $0.endpoint) }, uniquingKeysWith: { $1 })
        let gone = entries.filter { wanted[$0.key] == nil && !$0.value.isLeaving }.keys.sorted()
        for name in gone { leave(name, at: now) }
        let come = sources.map(\.name).filter { entries[$0]?.isLeaving ?? true }
        for (name, endpoint) in wanted {
            entries[
                name, default: Entry(endpoint: endpoint, state: .idle(until: now), renewAt: now)
            ]
            .isLeaving = isStopping
            entries[name]?.endpoint = endpoint
            entries[name]?.isLimited = limited.contains(name)
        }
        return (come, gone)
    }

    /// Nothing is begun any more. What is being read is for the caller to cut short.
    mutating func stop(at now: Instant) {
        isStopping = true
        for name in Array(entries.keys) { leave(name, at: now) }
    }

    /// Those that are being read although they should not be any more.
    var toCut: [SourceID] {
        entries.compactMap { name, entry in
            if entry.isLeaving, case .reading = entry.state { name } else { nil }
        }
    }

    /// Whether there is nothing left to wait for.
    var isOver: Bool {
        if isStopping { return entries.isEmpty && !isUnderWay }
        return isOnePass
            && entries.values.allSatisfy { if case .done = $0.state { true } else { false } }
    }

    private mutating func leave(_ name: SourceID, at now: Instant) {
        guard let entry = entries[name] else { return }
        entries[name]?.isLeaving = true
        switch entry.state {
        case .idle, .done: entries[name] = nil
        case .granted(let start):
            entries[name]?.state = .ended(
                HintReading(name, .left, rest: start.early), due: now + start.early)
        case .wanted, .reading, .ended, .telling: break
        }
    }

    // MARK: Reading

    /// The readings that may begin now.
    mutating func starts(at now: Instant) -> [Start] {
        guard !queue.isEmpty else { return [] }
        var counts = Counts(entries.values)
        var (starts, rest): ([Start], [SourceID]) = ([], [])
        for name in queue {
            guard let entry = entries[name], case .granted(let start) = entry.state else {
                continue
            }
            if counts.mayRead(entry) {
                entries[name]?.state = .reading(waits: false)
                starts.append(start)
            } else {
                rest.append(name)
            }
        }
        queue = rest
        return starts
    }

    /// The reading waits for its turn to call, or goes on.
    mutating func waits(_ name: SourceID, _ waits: Bool) {
        guard case .reading = entries[name]?.state else { return }
        entries[name]?.state = .reading(waits: waits)
    }

    /// The reading has ended; its rest is counted from now.
    mutating func ended(_ reading: HintReading, at now: Instant) {
        guard let entry = entries[reading.source], case .reading = entry.state else { return }
        entries[reading.source]?.state = .ended(reading, due: now + reading.rest)
        switch reading.outcome {
        case .read: entries[reading.source]?.isFailing = false
        case .failed: entries[reading.source]?.isFailing = true
        case .left: break
        }
    }

    // MARK: Rounds with the database

    /// What to tell and ask now; nil where there is nothing, or where the last round was within
    /// `pace`.
    mutating func round(at now: Instant, pace: Duration, lease: Duration) -> HintRound? {
        guard !isUnderWay, now >= roundOpens(pace, at: now) else { return nil }
        var round = HintRound(lease: lease)
        round.isEarly = isOnePass
        round.wanted = wants(at: now)
        round.limited = round.wanted.filter { entries[$0]?.isLimited == true }
        for (name, entry) in entries {
            switch entry.state {
            case .granted where entry.renewAt <= now, .reading where entry.renewAt <= now:
                entries[name]?.renewAt = now + lease / 3
                round.kept.append(name)
            case .ended(var reading, let due):
                entries[name]?.state = .telling(reading, due: due)
                reading.rest = max(due - now, .zero)
                round.ended.append(reading)
            case .idle, .wanted, .granted, .reading, .telling, .done: break
            }
        }
        guard !round.isEmpty else { return nil }
        isUnderWay = true
        roundAt = now
        return round
    }

    /// Those that are due, as many as may be held; who has waited longest goes first.
    private mutating func wants(at now: Instant) -> [SourceID] {
        let due = entries.compactMap { name, entry -> (until: Instant, name: SourceID)? in
            if case .idle(let until) = entry.state, until <= now { (until, name) } else { nil }
        }
        guard !due.isEmpty else { return [] }
        var counts = Counts(entries.values)
        var wanted: [SourceID] = []
        for (_, name) in due.sorted(by: <) {
            guard let entry = entries[name], counts.mayHold(entry) else { continue }
            entries[name]?.state = .wanted
            wanted.append(name)
        }
        return wanted
    }

    /// Enters the answer to a round that began when it was `sent`.
    ///
    /// - Returns: sources that were being read and that another worker has: to be cut short.
    mutating func learn(
        _ turns: HintTurns, of round: HintRound, sent: Instant, at now: Instant
    ) -> [SourceID] {
        isUnderWay = false
        for reading in round.ended { settle(reading.source, at: now) }
        for name in round.wanted {
            if let place = turns.granted[name] {
                var start = Start(source: name, place: place, now: turns.now, toldAt: now)
                start.early = turns.early[name] ?? .zero
                grant(start, renewAt: sent + round.lease / 3, at: now)
            } else {
                rest(name, until: now + (turns.waits[name] ?? .zero))
            }
        }
        var cut: [SourceID] = []
        for name in round.kept where turns.lost.contains(name) {
            switch entries[name]?.state {
            case .granted: rest(name, until: now)
            case .reading: cut.append(name)
            case .idle, .wanted, .ended, .telling, .done, nil: break
            }
        }
        return cut
    }

    /// The round has failed: what was to be told is told again, after a pause. While stopping the
    /// leases run out by themselves.
    mutating func failed(_ round: HintRound, at now: Instant) {
        isUnderWay = false
        pausesUntil = now + Self.databasePause
        for name in round.wanted { rest(name, until: now) }
        for name in round.kept { entries[name]?.renewAt = now }
        for reading in round.ended {
            guard case .telling(let kept, let due) = entries[reading.source]?.state else {
                continue
            }
            entries[reading.source]?.state = .ended(kept, due: due)
            if isStopping { entries[reading.source] = nil }
        }
        if isOnePass { stop(at: now) }
    }

    /// When there is something to do next; nil where only an event can bring it.
    func wakesAt(pace: Duration, after now: Instant) -> Instant? {
        guard !isUnderWay else { return nil }
        let next = entries.values.compactMap { entry -> Instant? in
            switch entry.state {
            case .idle(let until): until
            case .granted, .reading: entry.renewAt
            case .ended: now
            case .wanted, .telling, .done: nil
            }
        }.min()
        return next.map { max($0, roundOpens(pace, at: now)) }
    }

    private func roundOpens(_ pace: Duration, at now: Instant) -> Instant {
        // The last round of a stop waits for nothing.
        if isStopping { return now }
        return max(roundAt.map { $0 + pace } ?? now, pausesUntil ?? now)
    }

    private mutating func grant(_ start: Start, renewAt: Instant, at now: Instant) {
        let name = start.source
        guard let entry = entries[name] else { return }
        entries[name]?.renewAt = renewAt
        entries[name]?.isFailing = start.place.failures > 0
        entries[name]?.state = .granted(start)
        if entry.isLeaving {
            leave(name, at: now)
        } else {
            queue.append(name)
        }
    }

    /// Not ours for now.
    private mutating func rest(_ name: SourceID, until: Instant) {
        guard var entry = entries[name] else { return }
        entry.state = isOnePass ? .done : .idle(until: until)
        entries[name] = entry.isLeaving ? nil : entry
    }

    /// Its reading was told.
    private mutating func settle(_ name: SourceID, at now: Instant) {
        guard case .telling(_, let due) = entries[name]?.state else { return }
        rest(name, until: due)
    }

    /// How many sources of each endpoint are ours and being read. Those that wait for their turn to
    /// call do not count.
    private struct Counts {
        private struct Count {
            var held = 0
            var read = 0
            var failingHeld = 0
            var failingRead = 0
        }

        private var counts: [EndpointID: Count] = [:]

        init(_ entries: some Sequence<Entry>) {
            for entry in entries {
                switch entry.state {
                case .granted, .wanted: hold(entry)
                case .reading(waits: false):
                    hold(entry)
                    read(entry)
                case .reading, .idle, .ended, .telling, .done: break
                }
            }
        }

        /// Counts one more that is ours, if there is room for it.
        mutating func mayHold(_ entry: Entry) -> Bool {
            let count = counts[entry.endpoint, default: Count()]
            guard
                entry.isFailing
                    ? count.failingHeld < HintWatch.failingLimit
                    : count.held < HintWatch.holdLimit
            else { return false }
            hold(entry)
            return true
        }

        /// Counts one more that is read, if there is room for it.
        mutating func mayRead(_ entry: Entry) -> Bool {
            let count = counts[entry.endpoint, default: Count()]
            guard count.read < HintWatch.readLimit,
                !entry.isFailing || count.failingRead < HintWatch.failingLimit
            else { return false }
            read(entry)
            return true
        }

        private mutating func hold(_ entry: Entry) {
            if entry.isFailing {
                counts[entry.endpoint, default: Count()].failingHeld += 1
            } else {
                counts[entry.endpoint, default: Count()].held += 1
            }
        }

        private mutating func read(_ entry: Entry) {
            counts[entry.endpoint, default: Count()].read += 1
            if entry.isFailing { counts[entry.endpoint, default: Count()].failingRead += 1 }
        }
    }
}
