import Renewal

// What may start.
extension QueueMachine {
    // What is asked at each event is compiled into it: else the machine would be copied for it.

    /// How many checks could start, were there calls and slots for them.
    @inline(__always)
    private var startable: Int {
        guard commits == .flow else { return 0 }
        return max(min(buffer.count, window - inFlight, limits.inFlight - unsettled), 0)
    }

    mutating func serveCallers(at now: Instant) -> [Action] {
        var served: [Action] = []
        while let first = callers.first, let place = takePlace(at: now) {
            callers.removeFirst()
            served.append(.admit(first, place))
        }
        return served
    }

    @inline(__always)
    func wantSlots(at now: Instant) -> [Action] {
        guard callers.isEmpty, circuit.wouldAdmit(at: time(now)) else { return [] }
        var count = circuit.position == .closed ? startable : min(startable, 1)
        if var row = permits {
            let wanted = count
            count = 0
            while count < wanted, row.take(at: now) != nil { count += 1 }
        }
        return count == 0 ? [] : [.takeSlots(count)]
    }

    mutating func start(_ count: Int, at now: Instant) -> [Action] {
        guard isInSession else { return Array(repeating: .giveSlot, count: count) }
        var actions: [Action] = []
        for _ in 0..<count {
            guard !buffer.isEmpty, let place = takePlace(at: now), let claim = buffer.popLast()
            else {
                actions.append(.giveSlot)
                continue
            }
            _ = circuit.admits(at: time(now))
            inFlight += 1
            unsettled += 1
            followsAt = followsAt ?? now + Self.connectLimit
            actions.append(.start(goingOn(claim, at: now), place))
        }
        return actions
    }

    /// Nil while none is free.
    private mutating func takePlace(at now: Instant) -> CallPlace? {
        guard permits != nil else { return .anyTime }
        return permits?.take(at: now)
    }

    /// A claim may have waited for its call: it is judged as of then.
    private func goingOn(_ claim: Claim, at now: Instant) -> Claim {
        guard let told else { return claim }
        return claim.going(on: told.time + max(now - told.at, .zero))
    }

    mutating func reserve(at now: Instant) -> [Action] {
        let wanted = startable + callers.count
        guard wanted > 0, !isReserving, reserveAt <= now, let interval = limits.interval,
            !callers.isEmpty || circuit.wouldAdmit(at: time(now)), permits?.opensAt(now) == nil,
            mayFollow(at: now) || !callers.isEmpty, let row = permits
        else { return [] }
        isReserving = true
        let paced = pace.interval(interval)
        reservedInterval = paced
        let isFirst = followsAt == nil || !mayFollow(at: now)
        let calls = isFirst ? 1 : row.slice(wanted: wanted, interval: paced)
        return [.reserve(calls: calls, stretch: row.stretch(calls, every: paced))]
    }

    /// Whether a check may start behind the first one of the session, as far as that one matters.
    private func mayFollow(at now: Instant) -> Bool { followsAt.map { $0 <= now } ?? true }
}

// When it is over, and when there is something to do next.
extension QueueMachine {
    @inline(__always)
    func isDone(at now: Instant) -> Bool {
        guard unsettled == 0, callers.isEmpty else { return false }
        switch mode {
        case .forever: return hasNothing && buffer.isEmpty && !isReading
        case .onePass:
            guard mayAsk(at: now) else { return true }
            return isPassDone && buffer.isEmpty && !isReading
        }
    }

    /// When something can be done that no event brings; a poll later at most. What could be done
    /// already and was not waits for something else, such as a slot, and is no reason to look.
    mutating func wakesAt(after now: Instant) -> Instant {
        var times: [Instant] = []
        if !isReading, buffer.count <= lowWater, mayAsk(at: now) { times.append(readAt) }
        if startable + callers.count > 0 {
            if let opensAt = permits?.opensAt(now) {
                times.append(opensAt)
            } else if permits != nil, !isReserving {
                times.append(callers.isEmpty ? max(reserveAt, followsAt ?? reserveAt) : reserveAt)
            }
            if let until = circuit.opensUntil, circuit.position == .open {
                times.append(startedAt + (until - Timestamp(microsecondsSinceEpoch: 0)))
            }
        }
        let next = times.filter { $0 > lookedAt }.min() ?? now + limits.poll
        return max(min(next, now + limits.poll), now)
    }
}
