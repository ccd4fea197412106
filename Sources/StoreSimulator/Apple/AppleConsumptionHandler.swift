/// Send Consumption Information: what the seller knows of a purchase whose refund is under review.
///
/// https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information
struct AppleConsumptionHandler: Sendable {
    let calls: StoreCalls
    let tokens: AppleTokens

    var routes: [Route] {
        [
            Route(
                "PUT", "/inApps/v2/transactions/consumption/{transaction}", .consumption, take)
        ]
    }

    private func take(_ request: Request) -> Reply {
        let bundle = tokens.bundle(of: request)
        return calls.answer(
            request, of: .apple,
            about: { $0.find(transaction: request["transaction"][...])?.number },
            failing: { $0.failureBeforeWriting() },
            from: { _, _ throws(Refusal) in try bundle.proven() },
            { world, call throws(Refusal) in
                let id = request["transaction"]
                guard !id.isEmpty, id.utf8.allSatisfy({ (48...57).contains($0) }) else {
                    throw Refusal(4_000_006, "Invalid transaction id.")
                }
                let app = try bundle.proven()
                guard let found = world.find(transaction: id[...]),
                    world.purchase(found.number).app == app,
                    world.purchase(found.number).environment == request.host.environment
                else { throw Refusal(Failures.notFound(.apple)) }
                guard let body = request.decode(AppleConsumption.self) else {
                    throw Refusal(4_000_000, "Bad request.")
                }
                let purchase = world.purchase(found.number)
                try body.check(isRenewable: purchase.timeline.terms.kind == .autoRenewable)
                let text = String(decoding: request.body, as: UTF8.self)
                if let review = world.desk.review(of: found.number, charge: found.charge) {
                    world.desk.change(review.number) {
                        $0.replies.append(Review.Reply(at: call.now, body: text, isKept: true))
                    }
                }
                if let failure = call.failure() { throw Refusal(failure) }
                return .reply(Reply(202, text: ""))
            })
    }
}
