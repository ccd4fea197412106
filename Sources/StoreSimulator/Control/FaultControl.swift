/// The body of `POST /control/faults`.
struct FaultRequest: Codable, Hashable, Sendable {
    var kind: String
    var store: String?
    var app: String?
    var purchase: Int?
    var endpoint: String?
    var status: Int?
    var share: Double?
    /// `lognormal 80 2000` and the like; or one number of milliseconds.
    var latency: String?
    var latencyMs: Int64?
    var count: Int?
    var retryAfter: Int64?
    var retryAfterText: String?
    var age: String?
    /// When it begins by the simulated clock, and how long it lasts.
    var at: String?
    var `for`: String?
}

extension ControlReader {
    /// The fault with its span of simulated time, which begins at `now` where nothing else is said.
    static func fault(_ request: FaultRequest, at now: Instant) throws(ControlError) -> Fault {
        guard let kind = Fault.Kind(rawValue: request.kind) else {
            let kinds = Fault.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError("kind is none of \(kinds)")
        }
        var fault = Fault(kind: kind)
        if let text = request.store { fault.store = try store(text) }
        if let only = fault.onlyStore, let store = fault.store, store != only {
            throw ControlError("only \(only.rawValue) can fail so")
        }
        if let endpoint = try endpoint(request.endpoint) { fault.endpoint = endpoint }
        if let share = request.share, !(0...1).contains(share) {
            throw ControlError("share is not between 0 and 1")
        }
        if let count = request.count, count < 0 { throw ControlError("count is less than 0") }
        fault.app = request.app
        fault.purchase = request.purchase
        fault.status = try status(request.status, kind)
        fault.share = request.share ?? 1
        fault.latency = try latency(request)
        fault.remaining = request.count ?? fault.remaining
        fault.retryAfterSeconds = request.retryAfter
        fault.retryAfterText = try header(request.retryAfterText)
        fault.age = try period(request.age, "age") ?? fault.age
        fault.begins = try instant(request.at, "at")
        fault.ends = try period(request.for, "for").map { (fault.begins ?? now).adding($0) }
        return fault
    }

    private static func endpoint(_ text: String?) throws(ControlError) -> Endpoint? {
        guard let text, text != "read" else { return nil }
        guard let endpoint = Endpoint(rawValue: text), endpoint != .other else {
            let names = Endpoint.allCases.filter { $0 != .other }.map(\.rawValue)
            throw ControlError("endpoint is none of read, \(names.joined(separator: ", "))")
        }
        return endpoint
    }

    private static func status(_ status: Int?, _ kind: Fault.Kind) throws(ControlError) -> Int? {
        if kind == .receiptStatus {
            guard let status, (21_000...21_199).contains(status) else {
                throw ControlError("status is not between 21000 and 21199")
            }
            return status
        }
        if let status, !(200...599).contains(status) {
            throw ControlError("status is not between 200 and 599")
        }
        return status
    }

    private static func latency(_ request: FaultRequest) throws(ControlError) -> Latency? {
        if let milliseconds = request.latencyMs {
            guard (0...Latency.limitMilliseconds).contains(milliseconds) else {
                throw ControlError("latency_ms is not between 0 and \(Latency.limitMilliseconds)")
            }
            return .fixed(milliseconds)
        }
        guard let text = request.latency else { return nil }
        guard let latency = Latency(text: text) else {
            throw ControlError(
                "latency is none of: fixed 80, uniform 50 200, normal 100 20, lognormal 80 2000")
        }
        return latency
    }

    /// A header's value must stay on its line.
    private static func header(_ text: String?) throws(ControlError) -> String? {
        guard let text else { return nil }
        guard text.count <= 100, text.utf8.allSatisfy({ (32..<127).contains($0) }) else {
            throw ControlError("retry_after_text is longer than 100 or not plain ASCII")
        }
        return text
    }
}

/// `/control/faults` and `/control/latency`: how the stores fail, and how slow they are.
struct FaultControl: Sendable {
    let world: SharedWorld

    var routes: [Route] {
        [
            .control("GET", "faults") { _ in list() },
            .control("POST", "faults", add),
            .control("DELETE", "faults") { _ in
                world.withLock { $0.faults.removeAll() }
                return .done
            },
            .control("DELETE", "faults/{id}", remove),
            .control("POST", "latency", setLatency),
        ]
    }

    private func add(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(FaultRequest.self, request.body)
        let fault = try ControlReader.fault(body, at: world.now())
        return .made(id: world.withLock { $0.faults.add(fault) })
    }

    private func remove(_ request: Request) throws(ControlError) -> Reply {
        guard let id = Int(request["id"]), world.withLock({ $0.faults.remove(id: id) }) else {
            throw ControlError("there is no such fault", status: 404)
        }
        return .done
    }

    private func list() -> Reply {
        let faults = world.withLock { $0.faults.faults }
        return Reply(200, .object { $0.objects("faults", faults) { $0.describe($1) } })
    }

    private func setLatency(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(LatencyRequest.self, request.body)
        guard (0...600_000).contains(body.milliseconds) else {
            throw ControlError("milliseconds is not between 0 and 600000")
        }
        world.withLock { $0.latencyMilliseconds = body.milliseconds }
        return .done
    }
}

extension JSONWriter {
    fileprivate mutating func describe(_ fault: Fault) {
        member("id", fault.id)
        member("kind", fault.kind.rawValue)
        member("store", orNull: fault.store?.rawValue)
        member("endpoint", orNull: fault.endpoint?.rawValue)
        member("app", orNull: fault.app)
        member("purchase", orNull: fault.purchase)
        member("status", orNull: fault.status)
        member("share", fault.share)
        member("latency", orNull: fault.latency?.text)
        member("begins", orNull: fault.begins)
        member("ends", orNull: fault.ends)
        member("remaining", orNull: fault.remaining)
        member("met", fault.met)
    }
}
