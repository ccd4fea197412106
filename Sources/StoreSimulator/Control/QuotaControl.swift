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
        let answer = JSON.object { json in
            json.objects("quotas", entries) { json, entry in
                json.member("id", entry.id)
                json.member("store", entry.quota.store.rawValue)
                json.member("calls", entry.quota.calls)
                json.member("per", Period(milliseconds: entry.quota.windowMilliseconds).text)
                json.member("refused", entry.refused)
            }
        }
        return Reply(200, answer)
    }
}
