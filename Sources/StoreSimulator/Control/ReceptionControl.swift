import FoundationEssentials
import Synchronization

/// The control calls under `/control`. They are unauthenticated: the simulator listens on
/// loopback only.
extension Reception {
    func control(_ request: Request, _ path: [Substring]) -> Reply {
        do {
            return try controlled(request, path)
        } catch {
            return error.reply
        }
    }

    private func controlled(
        _ request: Request, _ path: [Substring]
    ) throws(ControlError) -> Reply {
        switch (request.method, path.first ?? "", path.count) {
        case ("GET", "clock", 1): return clockReply()
        case ("POST", "clock", 1): return try moveClock(request)
        case ("POST", "purchases", 1): return try addPurchases(request)
        case ("GET", "purchases", 2): return try describe(path[1])
        case ("GET", "purchases", 3) where path[2] == "receipt":
            return try receipt(request, path[1])
        case ("POST", "purchases", 3): return try act(request, path[1], path[2])
        case ("GET", "truth", 1): return try truth(request)
        case ("GET", "truth", 2) where path[1] == "summary": return try truthSummary(request)
        case ("GET", "curl", 2): return try curlReply(path[1])
        case ("GET", "scenarios", 1): return try scenariosReply()
        case ("GET", "scenarios", 2): return try scenarioReply(path[1])
        case ("POST", "scenarios", 1): return try runScenario(request)
        case ("POST", "fleet", 1): return try addFleet(request)
        case ("GET", "faults", 1): return faultsReply()
        case ("POST", "faults", 1): return try addFault(request)
        case ("DELETE", "faults", 1):
            world.withLock { $0.faults.removeAll() }
            return Self.done
        case ("DELETE", "faults", 2): return try removeFault(path[1])
        case ("GET", "quotas", 1): return quotasReply()
        case ("POST", "quotas", 1): return try addQuota(request)
        case ("DELETE", "quotas", 1):
            world.withLock { $0.quotas.removeAll() }
            return Self.done
        case ("POST", "notifications", 1): return try setNotifications(request)
        case ("POST", "latency", 1): return try setLatency(request)
        case ("GET", "calls", 1): return try callsReply(request)
        case ("DELETE", "calls", 1):
            world.withLock { $0.calls = CallBook() }
            return Self.done
        case ("POST", "quit", 1):
            stop()
            return Self.done
        default: throw ControlError("there is no such control call", status: 404)
        }
    }

    static var done: Reply {
        var json = JSONText(capacity: 16)
        json.raw("{\"ok\":true}")
        return Reply(200, json)
    }

    private func clockReply() -> Reply {
        let machine = SimulatedClock.machineNow
        let clock = world.withLock { $0.clock }
        var json = JSONText(capacity: 80)
        json.raw("{\"now\":")
        json.time(clock.now(machine: machine))
        json.raw(",\"offset_milliseconds\":")
        json.number(clock.offset(machine: machine))
        json.raw(",\"speed\":")
        json.ready(Array("\(clock.speed)".utf8))
        json.raw("}")
        return Reply(200, json)
    }

    private func moveClock(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(ClockRequest.self, request.body)
        let advance = try ControlReader.period(body.advance, "advance")
        let set = try ControlReader.instant(body.set, "set")
        let speed = body.speed
        guard [advance != nil, set != nil].count(where: { $0 }) <= 1,
            advance != nil || set != nil || speed != nil
        else { throw ControlError("give advance, set or speed") }
        if let speed {
            guard (0...1_000_000).contains(speed) else {
                throw ControlError("speed is not between 0 and 1000000")
            }
            guard clockFile == nil else {
                throw ControlError("a clock shared by libfaketime keeps the machine's speed")
            }
        }
        let machine = SimulatedClock.machineNow
        let clock = world.withLock { world in
            if let advance { world.clock.advance(advance, machine: machine) }
            if let set { world.clock.set(set, machine: machine) }
            if let speed { world.clock.run(at: speed, machine: machine) }
            return world.clock
        }
        do {
            try writeClockFile(clock)
        } catch {
            throw ControlError("the clock file cannot be written", status: 500)
        }
        return clockReply()
    }

    /// Writes the offset for libfaketime; the file is replaced whole, by a rename.
    func writeClockFile(_ clock: SimulatedClock) throws {
        guard let clockFile else { return }
        try Data(clock.faketimeText(machine: SimulatedClock.machineNow).utf8).write(
            to: URL(fileURLWithPath: clockFile), options: .atomic)
    }

    private func setLatency(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(LatencyRequest.self, request.body)
        guard (0...600_000).contains(body.milliseconds) else {
            throw ControlError("milliseconds is not between 0 and 600000")
        }
        world.withLock { $0.latencyMilliseconds = body.milliseconds }
        return Self.done
    }

    private func callsReply(_ request: Request) throws(ControlError) -> Reply {
        let calls = world.withLock { $0.calls }
        var json = JSONText()
        if let text = request.query("purchase") {
            guard let number = Int(text) else { throw ControlError("purchase is not a number") }
            json.raw("{\"calls\":")
            json.number(Int64(calls.count(ofPurchase: number)))
            json.raw("}")
            return Reply(200, json)
        }
        json.raw("{")
        for store in StoreName.allCases {
            json.plain(store.rawValue)
            json.raw(":{\"calls\":")
            json.number(Int64(calls.calls[store] ?? 0))
            json.raw(",\"max_per_second\":")
            json.number(Int64(calls.maxPerSecond[store] ?? 0))
            if store == .google {
                json.raw(",\"tokens_issued\":")
                json.number(Int64(calls.tokensIssued))
            }
            json.raw("},")
        }
        json.raw("\"statuses\":{")
        for (index, status) in calls.statuses.keys.sorted().enumerated() {
            if index > 0 { json.raw(",") }
            json.quoted(Int64(status))
            json.raw(":")
            json.number(Int64(calls.statuses[status] ?? 0))
        }
        json.raw("},\"purchases\":")
        json.number(Int64(calls.purchases))
        json.raw(",\"duplicates\":")
        json.number(Int64(calls.duplicates))
        json.raw("}")
        return Reply(200, json)
    }
}
