/// The body of `POST /control/scenarios`: a scenario of the library by its name, or a text.
struct ScenarioRequest: Decodable {
    var name: String?
    var text: String?
    /// One of those that the scenario is for; all of them where nothing is said.
    var store: String?
    /// Day 0; default is now.
    var start: String?
    var app: String?
    var user: String?
    /// How many times it is planted in each store.
    var count: Int?
}

struct FleetRequest: Decodable {
    var count: Int?
    var seed: UInt64?
    /// The first day; purchases that are older were made in the year before it.
    var start: String?
    /// For how many days from then lives are told.
    var days: Int64?
    var app: String?
}

/// `/control/scenarios` and `/control/fleet`: whole lives at once.
struct ScenarioControl: Sendable {
    private static let plantLimit = 100_000
    private static let dayLimit: Int64 = 3660

    let world: SharedWorld

    var routes: [Route] {
        [
            .control("GET", "scenarios") { _ throws(ControlError) in try list() },
            .control("GET", "scenarios/{name}", show),
            .control("POST", "scenarios", run),
            .control("POST", "fleet", addFleet),
        ]
    }

    private func list() throws(ControlError) -> Reply {
        var json = JSONText()
        json.raw("{\"scenarios\":[")
        for (index, name) in ScenarioLibrary.names.enumerated() {
            let scenario = try Self.scenario(name)
            if index > 0 { json.raw(",") }
            json.raw("{\"name\":")
            json.string(name)
            json.raw(",\"stores\":\"")
            json.ready(Array(scenario.stores.map(\.rawValue).joined(separator: " ").utf8))
            json.raw("\",\"title\":")
            json.string(scenario.title)
            json.raw("}")
        }
        json.raw("]}")
        return Reply(200, json)
    }

    private func show(_ request: Request) throws(ControlError) -> Reply {
        let name = request["name"]
        guard let text = ScenarioLibrary.texts[name] else {
            throw ControlError("there is no such scenario", status: 404)
        }
        var json = JSONText()
        json.raw("{\"name\":")
        json.string(name)
        json.raw(",\"text\":")
        json.string(text)
        json.raw("}")
        return Reply(200, json)
    }

    private static func scenario(_ name: String) throws(ControlError) -> Scenario {
        guard let text = ScenarioLibrary.texts[name] else {
            throw ControlError("there is no such scenario", status: 404)
        }
        return try scenario(text: text)
    }

    private static func scenario(text: String) throws(ControlError) -> Scenario {
        do {
            return try Scenario(text: text)
        } catch {
            throw ControlError(error.text)
        }
    }

    private func run(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(ScenarioRequest.self, request.body)
        let scenario: Scenario
        switch (body.name, body.text) {
        case (let name?, nil): scenario = try Self.scenario(name)
        case (nil, let text?): scenario = try Self.scenario(text: text)
        default: throw ControlError("give name or text")
        }
        var stores = scenario.stores
        if let text = body.store {
            let store = try ControlReader.store(text)
            guard stores.contains(store) else {
                throw ControlError("the scenario is not for \(store.rawValue)")
            }
            stores = [store]
        }
        let count = body.count ?? 1
        guard (1...Self.plantLimit).contains(count) else {
            throw ControlError("count is not between 1 and \(Self.plantLimit)")
        }
        let start = try ControlReader.instant(body.start, "start")
        let app = body.app ?? World.defaultApp
        let machine = SimulatedClock.machineNow
        let result: Result<[PlantedScenario], ControlError> = world.withLock { world in
            var draft = world
            let day0 = start ?? world.now(machine)
            do {
                var planted: [PlantedScenario] = []
                for store in stores {
                    for place in 1...count {
                        let user = body.user.map { count == 1 ? $0 : "\($0)\(place)" }
                        planted.append(
                            try draft.plant(
                                scenario, in: store, start: day0, app: app, user: user))
                    }
                }
                world = draft
                return .success(planted)
            } catch let failure as Scenario.Failure {
                return .failure(ControlError(failure.text, status: 409))
            } catch {
                return .failure(ControlError("the scenario cannot be lived", status: 409))
            }
        }
        var json = JSONText(capacity: 4000)
        json.describe(try result.get())
        return Reply(200, json)
    }

    private func addFleet(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(FleetRequest.self, request.body)
        let (count, days) = (body.count ?? 1000, body.days ?? 365)
        guard (1...1_000_000).contains(count), (1...Self.dayLimit).contains(days) else {
            throw ControlError(
                "count is not between 1 and 1000000, or days not between 1 and \(Self.dayLimit)")
        }
        let start = try ControlReader.instant(body.start, "start")
        var fleet = Fleet(
            seed: body.seed ?? 1, start: start ?? world.now(), days: days,
            app: body.app ?? World.defaultApp)
        let members = (0..<count).map { _ in fleet.next() }
        let first = world.withLock { world in
            members.map { world.add($0.buyer, $0.timeline).number }.first ?? 0
        }
        var json = JSONText()
        json.raw("{\"first\":")
        json.number(Int64(first))
        json.raw(",\"count\":")
        json.number(Int64(count))
        for store in StoreName.allCases {
            json.raw(",")
            json.plain(store.rawValue)
            json.raw(":")
            json.number(Int64(members.count { $0.timeline.store == store }))
        }
        json.raw("}")
        return Reply(200, json)
    }
}

extension JSONText {
    fileprivate mutating func describe(_ scenarios: [PlantedScenario]) {
        raw("{\"purchases\":[")
        for (index, purchase) in scenarios.flatMap(\.purchases).enumerated() {
            if index > 0 { raw(",") }
            raw("{")
            names(of: purchase)
            raw(",\"start\":")
            time(purchase.timeline.start)
            raw("}")
        }
        raw("],\"ends\":")
        if let end = scenarios.map(\.end).max() { time(end) } else { raw("null") }
        raw(",\"expectations\":[")
        for (index, check) in scenarios.flatMap(\.checks).enumerated() {
            if index > 0 { raw(",") }
            raw("{\"line\":")
            number(Int64(check.line))
            raw(",\"at\":")
            time(check.at)
            raw(",\"expected\":")
            string(check.expected)
            raw(",\"found\":")
            string(check.found)
            raw(",\"met\":")
            boolean(check.isMet)
            raw("}")
        }
        raw("]}")
    }
}
