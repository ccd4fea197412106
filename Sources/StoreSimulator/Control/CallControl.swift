/// `/control/calls`: how often the stores were asked.
struct CallControl: Sendable {
    let world: SharedWorld

    var routes: [Route] {
        [
            .control("GET", "calls", show),
            .control("DELETE", "calls") { _ in
                world.withLock { $0.calls = CallBook() }
                return .done
            },
        ]
    }

    private func show(_ request: Request) throws(ControlError) -> Reply {
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
