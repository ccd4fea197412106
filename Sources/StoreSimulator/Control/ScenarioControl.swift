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
        let scenarios = try ScenarioLibrary.names.map { name throws(ControlError) in
            (name, try Self.scenario(name))
        }
        let answer = JSON.object { json in
            json.objects("scenarios", scenarios) { json, entry in
                let (name, scenario) = entry
                json.member("name", name)
                json.member("stores", scenario.stores.map(\.rawValue).joined(separator: " "))
                json.member("title", scenario.title)
            }
        }
        return Reply(200, answer)
    }

    private func show(_ request: Request) throws(ControlError) -> Reply {
        let name = request["name"]
        guard let text = ScenarioLibrary.texts[name] else {
            throw ControlError("there is no such scenario", status: 404)
        }
        let answer = JSON.object { json in
            json.member("name", name)
            json.member("text", text)
        }
        return Reply(200, answer)
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
        let planted = try result.get()
        return Reply(200, .object(capacity: 4000) { $0.describe(planted) })
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
        let answer = JSON.object { json in
            json.member("first", first)
            json.member("count", count)
            for store in StoreName.allCases {
                json.member(store.rawValue, members.count { $0.timeline.store == store })
            }
        }
        return Reply(200, answer)
    }
}

extension JSONWriter {
    fileprivate mutating func describe(_ scenarios: [PlantedScenario]) {
        objects("purchases", scenarios.flatMap(\.purchases)) { json, purchase in
            json.names(of: purchase)
            json.member("start", purchase.timeline.start)
        }
        member("ends", orNull: scenarios.map(\.end).max())
        objects("expectations", scenarios.flatMap(\.checks)) { json, check in
            json.member("line", check.line)
            json.member("at", check.at)
            json.member("expected", check.expected)
            json.member("found", check.found)
            json.member("met", check.isMet)
        }
    }
}
