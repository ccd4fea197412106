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
        let purchases = try result.get()
        let answer = JSON.object(capacity: count * 300) { json in
            json.objects("purchases", purchases) { json, purchase in
                json.names(of: purchase)
                if body.receipts == true { receipts(purchase.number, to: &json) }
            }
        }
        return Reply(200, answer)
    }

    private func describe(_ request: Request) throws(ControlError) -> Reply {
        let number = try world.purchase(named: request["purchase"])
        let machine = SimulatedClock.machineNow
        let (purchase, life, now, hasBase) = world.withLock { world in
            let now = world.now(machine)
            let purchase = world.purchase(number)
            return (
                purchase, world.life(number, at: now), now,
                world.purchases.hasBase(purchase, at: now)
            )
        }
        let answer = JSON.object { json in
            json.describe(purchase, life, at: now, hasBase: hasBase)
            receipts(number, to: &json)
        }
        return Reply(200, answer)
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
        let text = style == "app" ? made.app : made.transaction
        return Reply(200, .object(capacity: 8000) { $0.member("receipt", plain: text) })
    }

    private func receipts(_ number: Int, to json: inout JSONWriter) {
        guard let made = madeReceipts(number, at: nil) else { return }
        json.member("app_receipt", plain: made.app)
        json.member("transaction_receipt", plain: made.transaction)
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
        let act = try ControlReader.act(request["action"][...], body, store)
        let machine = SimulatedClock.machineNow
        let answer = try world.withLock { world throws(ControlError) -> JSON in
            let now = world.now(machine)
            let replacement = try Self.perform(act, number, body, period, now, &world)
            let (purchase, life) = (world.purchase(number), world.life(number, at: now))
            let hasBase = world.purchases.hasBase(purchase, at: now)
            return .object { json in
                json.describe(
                    purchase, life, at: now, hasBase: hasBase, replacement: replacement)
            }
        }
        return Reply(200, answer)
    }

    /// The purchase that took the place of this one, if one did.
    private static func perform(
        _ act: ControlAct, _ number: Int, _ body: DeedRequest, _ period: Period?, _ now: Instant,
        _ world: inout World
    ) throws(ControlError) -> Purchase? {
        let life = world.life(number, at: now)
        let old = world.purchase(number)
        switch act {
        case .deed(let deed):
            if let objection = life.objection(to: deed, store: old.store) {
                throw ControlError(objection, status: 409)
            }
            guard deed == .supersede else {
                world.perform(deed, on: number, at: now, why: body.why)
                return nil
            }
            var terms = old.timeline.terms
            terms.period = period ?? terms.period
            return world.replace(
                number, product: body.product ?? "", terms: terms, now,
                body.when == "renewal" ? .deferred : .atOnce)
        case .topUp:
            guard life.plan == .prepaid, life.isEntitled else {
                throw ControlError("there is no prepaid time to add to", status: 409)
            }
            return world.replace(
                number, product: old.timeline.product, terms: old.timeline.terms, now, .topUp)
        case .resubscribe:
            guard old.store == .google, case .ended = life.phase else {
                throw ControlError(
                    "only an ended Google subscription is bought again so", status: 409)
            }
            return world.resubscribe(number, now)
        }
    }
}
