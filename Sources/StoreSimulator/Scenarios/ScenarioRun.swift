/// What came of a scenario that was planted into a world.
struct PlantedScenario: Sendable {
    struct Check: Hashable, Sendable {
        var line: Int
        var at: Instant
        var expected: String
        var found: String
        var isMet: Bool
    }

    var purchases: [Purchase] = []
    var checks: [Check] = []
    /// When the last step is.
    var end: Instant
}

extension World {
    /// Makes a scenario's purchases with all that will be done to them, and its faults. Day 0 is
    /// `start`; whatever lies ahead happens when the clock gets there.
    ///
    /// - Throws: when a step makes no sense at its time. Then the world is as it was.
    mutating func plant(
        _ scenario: Scenario, in store: StoreName, start: Instant, app: String, user: String?
    ) throws(Scenario.Failure) -> PlantedScenario {
        var draft = self
        let plot = Plot(store: store, start: start, app: app, user: user)
        let planted = try draft.live(scenario, plot)
        self = draft
        return planted
    }

    private struct Plot {
        var store: StoreName
        var start: Instant
        var app: String
        var user: String?
    }

    private mutating func live(
        _ scenario: Scenario, _ plot: Plot
    ) throws(Scenario.Failure) -> PlantedScenario {
        var planted = PlantedScenario(end: plot.start)
        var numbers: [Int] = []
        var named: [String: Int] = [:]
        for step in scenario.steps {
            let at = plot.start + step.offset
            planted.end = at
            if case .buy(let purchasing) = step.what {
                let number = buy(purchasing, plot, at: at)
                numbers.append(number)
                if let name = step.name { named[name] = number }
                continue
            }
            guard let number = step.name.flatMap({ named[$0] }) ?? numbers.last else { continue }
            switch step.what {
            case .buy: break
            case .act(let action, let deeds):
                if let next = try perform(action, deeds, number, plot.store, at: at, step.line) {
                    numbers.append(next)
                    for (name, old) in named where old == number { named[name] = next }
                }
            case .fault(let request): try add(request, number, at: at, step.line)
            case .expect(let expectation):
                planted.checks.append(check(expectation, number, at: at, step.line))
            }
        }
        planted.purchases = numbers.map(purchase)
        return planted
    }

    private mutating func buy(
        _ purchasing: Scenario.Purchasing, _ plot: Plot, at: Instant
    ) -> Int {
        var terms = Terms(
            store: plot.store, period: purchasing.period, trial: purchasing.trial,
            grace: purchasing.grace, hold: purchasing.hold, isPending: purchasing.isPending)
        terms.kind = purchasing.kind
        let buyer = Purchase.Buyer(
            app: purchasing.app ?? plot.app, environment: purchasing.environment,
            user: purchasing.user ?? plot.user)
        let timeline = Timeline(
            store: plot.store, product: purchasing.product, start: at, terms: terms)
        return add(buyer, timeline).number
    }

    /// The number of the purchase that took the place of this one, if one did.
    private mutating func perform(
        _ action: String, _ deeds: Scenario.Deeds, _ number: Int, _ store: StoreName,
        at: Instant, _ line: Int
    ) throws(Scenario.Failure) -> Int? {
        let deed: Deed
        do {
            deed = try ControlReader.deed(action[...], deeds.request, store)
        } catch {
            throw Scenario.Failure(line: line, message: error.message)
        }
        let old = purchase(number)
        if let objection = old.timeline.life(at: at).objection(to: deed, store: store) {
            throw Scenario.Failure(line: line, message: "this cannot happen: \(objection)")
        }
        guard deed == .supersede else {
            perform(deed, on: number, at: at)
            return nil
        }
        let product = deeds.product ?? old.timeline.product
        return replace(number, product: product, terms: old.timeline.terms, at).number
    }

    /// A fault that names no store, and is not for the token endpoint, is for the purchase alone.
    private mutating func add(
        _ request: FaultRequest, _ number: Int, at: Instant, _ line: Int
    ) throws(Scenario.Failure) {
        do {
            var fault = try ControlReader.fault(request, at: at)
            fault.begins = at
            if request.store == nil, fault.endpoint != .token { fault.purchase = number }
            _ = faults.add(fault)
        } catch {
            throw Scenario.Failure(line: line, message: error.message)
        }
    }

    private func check(
        _ expectation: Scenario.Expectation, _ number: Int, at: Instant, _ line: Int
    ) -> PlantedScenario.Check {
        let life = purchase(number).timeline.life(at: at)
        let hasAccess = at >= purchase(number).timeline.start && life.isEntitled
        let isMet =
            switch expectation {
            case .access: hasAccess
            case .noAccess: !hasAccess
            case .state(let word): word == life.phase.word
            }
        return PlantedScenario.Check(
            line: line, at: at, expected: expectation.text,
            found: "\(life.phase.word), \(hasAccess ? "access" : "no access")", isMet: isMet)
    }
}
