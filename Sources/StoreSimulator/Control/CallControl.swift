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
        if let text = request.query("purchase") {
            guard let number = Int(text) else { throw ControlError("purchase is not a number") }
            return Reply(200, .object { $0.member("calls", calls.count(ofPurchase: number)) })
        }
        let answer = JSON.object { json in
            for store in StoreName.allCases {
                json.object(store.rawValue) { json in
                    json.member("calls", calls.calls[store] ?? 0)
                    json.member("max_per_second", calls.maxPerSecond[store] ?? 0)
                    json.member("tokens_issued", store == .google ? calls.tokensIssued : nil)
                }
            }
            json.object("statuses") { json in
                for status in calls.statuses.keys.sorted() {
                    json.member("\(status)", calls.statuses[status])
                }
            }
            json.member("purchases", calls.purchases)
            json.member("duplicates", calls.duplicates)
        }
        return Reply(200, answer)
    }
}
