import FoundationEssentials

/// `/control/clock`: the simulated time.
struct ClockControl: Sendable {
    let world: SharedWorld
    /// A file for libfaketime; nil for none.
    let file: String?

    var routes: [Route] {
        [
            .control("GET", "clock") { _ in show() },
            .control("POST", "clock", move),
        ]
    }

    private func show() -> Reply {
        let machine = SimulatedClock.machineNow
        let clock = world.withLock { $0.clock }
        let answer = JSON.object { json in
            json.member("now", clock.now(machine: machine))
            json.member("offset_milliseconds", clock.offset(machine: machine))
            json.member("speed", clock.speed)
        }
        return Reply(200, answer)
    }

    private func move(_ request: Request) throws(ControlError) -> Reply {
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
            guard file == nil else {
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
            try writeFile(clock)
        } catch {
            throw ControlError("the clock file cannot be written", status: 500)
        }
        return show()
    }

    /// Writes the offset for libfaketime; the file is replaced whole, by a rename.
    func writeFile(_ clock: SimulatedClock) throws {
        guard let file else { return }
        try Data(clock.faketimeText(machine: SimulatedClock.machineNow).utf8).write(
            to: URL(fileURLWithPath: file), options: .atomic)
    }
}
