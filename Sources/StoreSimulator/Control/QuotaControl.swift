/// `/control/quotas`: how many calls the stores take.
struct QuotaControl: Sendable {
    let world: SharedWorld

    var routes: [Route] {
        [
            .control("GET", "quotas") { _ in list() },
            .control("POST", "quotas", add),
            .control("DELETE", "quotas") { _ in
                world.withLock { $0.quotas.removeAll() }
                return .done
            },
        ]
    }

    private struct Body: Decodable {
        var store: String
        var app: String?
        var endpoint: String?
        var calls: Int
        /// An ISO 8601 duration.
        var per: String
    }

    private func add(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(Body.self, request.body)
        let store = try ControlReader.store(body.store)
        guard
            var quota = Quota(
                store: store, calls: body.calls, per: try ControlReader.period(body.per, "per"))
        else { throw ControlError("calls is not between 1 and \(Quota.callLimit), or per is zero") }
        quota.app = body.app
        if let text = body.endpoint {
            guard let endpoint = Endpoint(rawValue: text) else {
                throw ControlError("there is no such endpoint")
            }
            quota.endpoint = endpoint
        }
        return .made(id: world.withLock { [quota] in $0.quotas.add(quota) })
    }

    private func list() -> Reply {
        let entries = world.withLock { $0.quotas.entries }
        var json = JSONText()
        json.raw("{\"quotas\":[")
        for (index, entry) in entries.enumerated() {
            if index > 0 { json.raw(",") }
            json.raw("{\"id\":")
            json.number(Int64(entry.id))
            json.raw(",\"store\":")
            json.plain(entry.quota.store.rawValue)
            json.raw(",\"calls\":")
            json.number(Int64(entry.quota.calls))
            json.raw(",\"per\":")
            json.plain(Period(milliseconds: entry.quota.windowMilliseconds).text)
            json.raw(",\"refused\":")
            json.number(Int64(entry.refused))
            json.raw("}")
        }
        json.raw("]}")
        return Reply(200, json)
    }
}
