/// A life told in lines of text: what is bought, what happens on which day, what must be true then.
///
/// `docs/simulator.md` defines the language.
struct Scenario: Hashable, Sendable {
    /// Why a text is not a scenario, or cannot be lived; says the line and what is expected there.
    struct Failure: Error, Hashable {
        var line: Int
        var message: String

        var text: String { "line \(line): \(message)" }
    }

    struct Step: Hashable, Sendable {
        var line: Int
        /// Milliseconds since the scenario's start.
        var offset: Int64
        /// The purchase it is about; nil for the newest.
        var name: String?
        var what: What
    }

    enum What: Hashable, Sendable {
        case buy(Purchasing)
        case act(action: String, Deeds)
        case fault(FaultRequest)
        case expect(Expectation)
    }

    struct Purchasing: Hashable, Sendable {
        var product: String
        var kind = Terms.Kind.autoRenewable
        var period = Period(months: 1)
        var trial: Period?
        var grace: Period?
        var hold: Period?
        var isPending = false
        var environment = Purchase.Environment.production
        var app: String?
        var user: String?
    }

    /// What goes with an action.
    struct Deeds: Hashable, Sendable {
        var length: String?
        var product: String?
        var isAtRenewal = false
    }

    enum Expectation: Hashable, Sendable {
        case access
        case noAccess
        /// A state by the word that control calls use.
        case state(String)

        var text: String {
            switch self {
            case .access: "access"
            case .noAccess: "no access"
            case .state(let word): word
            }
        }
    }

    var title: String
    /// The stores that it can be lived in, at least one.
    var stores: [StoreName]
    /// In order of time.
    var steps: [Step]

    /// Reads a text.
    init(text: String) throws(Failure) {
        var reader = ScenarioReader()
        for (index, line) in text.split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        )
        .enumerated() {
            try reader.read(line, number: index + 1)
        }
        guard let title = reader.title else {
            throw Failure(line: 1, message: "expected \"title TEXT\" before the first step")
        }
        guard let first = reader.steps.first, case .buy = first.what else {
            let line = reader.steps.first?.line ?? 1
            throw Failure(line: line, message: "expected \"buy PRODUCT\" as the first step")
        }
        self.title = title
        stores = reader.stores ?? StoreName.allCases
        steps = reader.steps
    }
}

/// Reads a scenario, a line at a time.
struct ScenarioReader {
    var title: String?
    var stores: [StoreName]?
    var steps: [Scenario.Step] = []
    private var names: Set<String> = []
    private var offset: Int64 = 0
    private var line = 0

    var lineNumber: Int { line }

    private static let dayLimit: Int64 = 36_500

    mutating func read(_ text: Substring, number: Int) throws(Scenario.Failure) {
        line = number
        guard !text.drop(while: { $0 == " " || $0 == "\t" }).hasPrefix("#") else { return }
        var words = try ScenarioWords(text, line: number)
        guard let first = words.next() else { return }
        switch first {
        case "title":
            // As it stands, quotation marks and all.
            let blank: Set<Character> = [" ", "\t"]
            let rest = text.drop(while: blank.contains).dropFirst(first.count)
            title = String(rest.drop(while: blank.contains))
            if words.rest.isEmpty { throw expected("\"title TEXT\"") }
        case "stores": stores = try readStores(&words)
        case "on": try readStep(&words)
        default: throw expected("\"title TEXT\", \"stores STORE…\" or \"on day N: STEP\"")
        }
    }

    private func expected(_ what: String) -> Scenario.Failure {
        Scenario.Failure(line: line, message: "expected \(what)")
    }

    private func readStores(
        _ words: inout ScenarioWords
    ) throws(Scenario.Failure) -> [StoreName] {
        var stores: [StoreName] = []
        while let word = words.next() {
            guard let store = StoreName(rawValue: word), !stores.contains(store) else {
                throw expected("\"stores\" and some of apple, google, amazon")
            }
            stores.append(store)
        }
        if stores.isEmpty { throw expected("\"stores\" and some of apple, google, amazon") }
        return stores
    }

    private mutating func readStep(_ words: inout ScenarioWords) throws(Scenario.Failure) {
        let moment = try readMoment(&words)
        guard moment >= offset else {
            throw expected("a day that is not before the one above")
        }
        offset = moment
        var name: String?
        if let word = words.peek, word.hasPrefix("["), word.hasSuffix("]") {
            name = String(word.dropFirst().dropLast())
            _ = words.next()
            guard let name, names.contains(name) else {
                throw expected("the name of a purchase above, as in \"buy PRODUCT as NAME\"")
            }
        }
        let verb = words.next() ?? ""
        let what: Scenario.What
        switch verb {
        case "buy":
            let (purchasing, own) = try readPurchase(&words)
            if let own { names.insert(own) }
            name = own
            what = .buy(purchasing)
        case "fault": what = .fault(try readFault(&words))
        case "expect": what = .expect(try readExpectation(&words))
        default: what = try readAct(verb, &words)
        }
        if !words.rest.isEmpty { throw expected("nothing after \"\(verb)\" and what it takes") }
        steps.append(Scenario.Step(line: line, offset: offset, name: name, what: what))
    }

    /// `day 30:` or `day 30 at 06:15:`, as milliseconds since the start.
    private func readMoment(_ words: inout ScenarioWords) throws(Scenario.Failure) -> Int64 {
        let form = "\"on day N:\" or \"on day N at HH:MM:\""
        guard words.next() == "day", var day = words.next() else { throw expected(form) }
        var time = "00:00"
        if !day.hasSuffix(":") {
            guard words.next() == "at", let word = words.next(), word.hasSuffix(":") else {
                throw expected(form)
            }
            time = String(word.dropLast())
        } else {
            day.removeLast()
        }
        let parts = time.split(separator: ":").compactMap { Int64($0) }
        guard let number = Int64(day), (0...Self.dayLimit).contains(number), parts.count == 2,
            (0..<24).contains(parts[0]), (0..<60).contains(parts[1])
        else { throw expected(form) }
        return number * Instant.day + (parts[0] * 60 + parts[1]) * 60 * Instant.second
    }

    private func period(_ text: String) throws(Scenario.Failure) -> Period {
        guard let period = Period(text: text) else {
            throw expected("an ISO 8601 duration such as P1M or PT12H in the place of \(text)")
        }
        return period
    }

    private func readPurchase(
        _ words: inout ScenarioWords
    ) throws(Scenario.Failure) -> (Scenario.Purchasing, name: String?) {
        guard let product = words.next() else { throw expected("\"buy PRODUCT\"") }
        var purchasing = Scenario.Purchasing(product: product)
        var name: String?
        while let option = words.next() {
            if option == "pending" {
                purchasing.isPending = true
                continue
            }
            guard let value = words.next() else { throw expected("a value after \(option)") }
            switch option {
            case "as": name = value
            case "every": purchasing.period = try period(value)
            case "trial": purchasing.trial = try period(value)
            case "grace": purchasing.grace = try period(value)
            case "hold": purchasing.hold = try period(value)
            case "app": purchasing.app = value
            case "user": purchasing.user = value
            case "kind":
                guard let kind = Terms.Kind(rawValue: value) else {
                    let kinds = Terms.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                    throw expected("one of \(kinds) after kind")
                }
                purchasing.kind = kind
            case "environment":
                guard let environment = Purchase.Environment(rawValue: value) else {
                    throw expected("production or sandbox after environment")
                }
                purchasing.environment = environment
            default:
                throw expected(
                    "one of as, every, trial, grace, hold, kind, pending, app, user, environment")
            }
        }
        guard purchasing.period.months > 0 || purchasing.period.milliseconds >= Instant.hour else {
            throw expected("a period of an hour or more")
        }
        return (purchasing, name)
    }

    private func readExpectation(
        _ words: inout ScenarioWords
    ) throws(Scenario.Failure) -> Scenario.Expectation {
        switch words.next() {
        case "access": return .access
        case "no" where words.next() == "access": return .noAccess
        case .some(let word) where Self.states.contains(word): return .state(word)
        default:
            throw expected("access, no access or one of \(Self.states.joined(separator: ", "))")
        }
    }

    private static let states = [
        "pending", "abandoned", "active", "silent", "grace", "hold", "paused", "expired",
        "payment_failed", "refunded", "revoked", "replaced",
    ]

    private func readFault(
        _ words: inout ScenarioWords
    ) throws(Scenario.Failure) -> FaultRequest {
        guard let kind = words.next() else { throw expected("\"fault KIND\"") }
        var fault = FaultRequest(kind: kind)
        while let option = words.next() {
            guard let value = words.next() else { throw expected("a value after \(option)") }
            switch option {
            case "store": fault.store = value
            case "endpoint": fault.endpoint = value
            case "app": fault.app = value
            case "latency": fault.latency = value
            case "age": fault.age = value
            case "for": fault.for = value
            case "status": fault.status = Int(value)
            case "share": fault.share = Double(value)
            case "count": fault.count = Int(value)
            case "retry_after": fault.retryAfter = Int64(value)
            default:
                throw expected(
                    "one of store, endpoint, app, status, share, count, latency, retry_after, "
                        + "age, for")
            }
        }
        do {
            _ = try ControlReader.fault(fault, at: Instant(milliseconds: 0))
        } catch {
            throw Scenario.Failure(line: line, message: error.message)
        }
        return fault
    }
}
