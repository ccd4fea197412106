/// `/control/purchases`: what is bought, and what happens to it.
struct PurchaseControl: Sendable {
    private static let countLimit = 1_000_000

    let world: SharedWorld
    let signer: ReceiptSigner

    var routes: [Route] {
        [
            .control("POST", "purchases", buy),
            .control("GET", "purchases/{purchase}", describe),
            .control("GET", "purchases/{purchase}/receipt", receipt),
            .control("POST", "purchases/{purchase}/{action}", act),
        ]
    }

    private func buy(_ request: Request) throws(ControlError) -> Reply {
        let body = try ControlReader.read(PurchaseRequest.self, request.body)
        let store = try ControlReader.store(body.store)
        let order = PurchaseOrder(
            store: store, body: body, terms: try ControlReader.terms(body, store),
            start: try ControlReader.instant(body.start, "start"),
            buyer: try ControlReader.buyer(body, app: World.defaultApp))
        let count = body.count ?? 1
        guard (1...Self.countLimit).contains(count), !body.product.isEmpty else {
            throw ControlError("count is not between 1 and \(Self.countLimit), or no product")
        }
        let machine = SimulatedClock.machineNow
        let result = world.withLock { world in
            let now = world.now(machine)
            return world.fulfil(order, count: count, now: now)
        }
        var json = JSONText(capacity: count * 300)
        json.raw("{\"purchases\":[")
        for (index, purchase) in try result.get().enumerated() {
            if index > 0 { json.raw(",") }
            json.raw("{")
            json.names(of: purchase)
            if body.receipts == true { appendReceipts(purchase.number, to: &json) }
            json.raw("}")
        }
        json.raw("]}")
        return Reply(200, json)
    }

    private func describe(_ request: Request) throws(ControlError) -> Reply {
        let number = try world.purchase(named: request["purchase"])
        let machine = SimulatedClock.machineNow
        var json = JSONText()
        world.withLock { world in
            let now = world.now(machine)
            json.raw("{")
            json.describe(world.purchase(number), world.life(number, at: now), at: now)
        }
        appendReceipts(number, to: &json)
        json.raw("}")
        return Reply(200, json)
    }

    /// `GET /control/purchases/{id}/receipt?style=app&at=…`: a legacy receipt as of an instant.
    private func receipt(_ request: Request) throws(ControlError) -> Reply {
        let number = try world.purchase(named: request["purchase"])
        let at = try ControlReader.instant(request.query("at"), "at")
        let style = request.query("style") ?? "app"
        guard ["app", "transaction"].contains(style) else {
            throw ControlError("style is not app or transaction")
        }
        guard let made = madeReceipts(number, at: at) else {
            throw ControlError("only Apple has receipts, and only of what is paid", status: 409)
        }
        var json = JSONText(capacity: 8000)
        json.raw("{\"receipt\":\"")
        json.ready(style == "app" ? made.app : made.transaction)
        json.raw("\"}")
        return Reply(200, json)
    }

    private func appendReceipts(_ number: Int, to json: inout JSONText) {
        guard let made = madeReceipts(number, at: nil) else { return }
        json.raw(",\"app_receipt\":\"")
        json.ready(made.app)
        json.raw("\",\"transaction_receipt\":\"")
        json.ready(made.transaction)
        json.raw("\"")
    }

    /// Base64 of both kinds of legacy receipts; nil where there is none. Signing needs no lock.
    private func madeReceipts(_ number: Int, at: Instant?) -> (app: [UInt8], transaction: [UInt8])?
    {
        let machine = SimulatedClock.machineNow
        let (entries, instant) = world.withLock { world -> ([ReceiptAnswer.Entry], Instant) in
            let instant = at ?? world.now(machine)
            guard world.purchase(number).store == .apple else { return ([], instant) }
            let entries = world.purchases(ofCustomerOf: number).map { other in
                ReceiptAnswer.Entry(
                    purchase: world.purchase(other),
                    life: world.purchase(other).timeline.life(at: instant))
            }
            return (entries.filter { $0.purchase.timeline.start <= instant }, instant)
        }
        guard let own = entries.last, let charge = own.life.latest,
            let app = try? AppReceipt.signed(entries, at: instant, by: signer),
            let transaction = try? TransactionReceipt.encode(
                own.purchase, charge, signer: signer)
        else { return nil }
        return (Base64.padded(app), Base64.padded(transaction))
    }

    private func act(_ request: Request) throws(ControlError) -> Reply {
        let number = try world.purchase(named: request["purchase"])
        let body = try ControlReader.read(DeedRequest.self, request.body)
        let store = world.withLock { $0.purchase(number).store }
        let period = try ControlReader.period(body.period, "period")
        let deed = try ControlReader.act(request["action"][...], body, store)
        let machine = SimulatedClock.machineNow
        var json = JSONText()
        let objection: String? = world.withLock { world in
            let now = world.now(machine)
            let life = world.life(number, at: now)
            var replacement: Purchase?
            switch deed {
            case .deed(.supersede):
                if let objection = life.objection(to: .supersede, store: store) { return objection }
                var terms = world.purchase(number).timeline.terms
                terms.period = period ?? terms.period
                replacement = world.replace(
                    number, product: body.product ?? "", terms: terms, now,
                    body.when == "renewal" ? .deferred : .atOnce)
            case .deed(let deed):
                if let objection = life.objection(to: deed, store: store) { return objection }
                world.perform(deed, on: number, at: now, reason: body.reason)
            case .topUp:
                guard life.plan == .prepaid, life.isEntitled else {
                    return "there is no prepaid time to add to"
                }
                let old = world.purchase(number).timeline
                replacement = world.replace(
                    number, product: old.product, terms: old.terms, now, .topUp)
            case .resubscribe:
                guard store == .google, case .ended = life.phase else {
                    return "only an ended Google subscription is bought again so"
                }
                replacement = world.resubscribe(number, now)
            }
            json.raw("{")
            json.describe(
                world.purchase(number), world.life(number, at: now), at: now,
                replacement: replacement)
            json.raw("}")
            return nil
        }
        if let objection { throw ControlError(objection, status: 409) }
        return Reply(200, json)
    }
}
