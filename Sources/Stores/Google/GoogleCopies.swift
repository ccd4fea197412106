import Renewal

// What an older copy of Google's data may say: that is in force again what was given back, or that
// is over what has been renewed or extended since. The order tells, and for a day after the last
// verdict nothing is believed against it; for ever would lock out who paid, or leave access to who
// did not, where the account may not read orders.
extension GoogleStore {
    /// - Throws: `.mismatch` where an order still reads as given back, or is not shown; and for
    ///   what reads as cut short, where its order reads as paid or is not shown.
    func requireCurrent(
        _ observation: Observation, of purchase: Purchase, with orders: GoogleItemOrders,
        at now: Timestamp
    ) async throws(StoreFailure) {
        try await requireLoss(of: orders.cutShort, of: purchase, at: now)
        guard observation.isInForce else { return }
        let facts = purchase.facts
        let isOfToday = purchase.isCheckedWithinADay(before: now)
        let older = StoreFailure.mismatch(what: "time, before it was refunded")
        // A consumable has no access to give back.
        if facts.state == .refunded, facts.voidedOrder == nil, facts.kind != .consumable,
            let known = facts.orderID, observation.orderID == known
        {
            switch try await standing(of: known, of: purchase, at: now) {
            case .paid: break
            case .givenBack: throw older
            case .givenBackInPart, .unknown: if isOfToday { throw older }
            }
        }
        // What was refunded as goodwill goes on, and may give nothing that others do not give.
        guard isOfToday else { return }
        let doubted = orders.joining.intersection(purchase.knownRefunds)
            .union(orders.returning.map { [$0] } ?? [])
        for id in doubted.sorted()
        where try await standing(of: id, of: purchase, at: now) != .paid {
            throw older
        }
    }

    /// - Throws: `.mismatch` where nothing shows that what ends early was given back.
    private func requireLoss(
        of cut: Set<OrderID>, of purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) {
        guard purchase.isCheckedWithinADay(before: now) else { return }
        for id in cut.subtracting(purchase.clues.refundedOrders).sorted() {
            switch try await standing(of: id, of: purchase, at: now) {
            case .givenBack, .givenBackInPart: continue
            case .paid, .unknown: throw .mismatch(what: "time, before its end moved on")
            }
        }
    }

    private enum Standing {
        case paid, givenBack, givenBackInPart, unknown
    }

    private func standing(
        of id: OrderID, of purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> Standing {
        await client.transport.beforeExtraCall()
        let order: GoogleOrder?
        do throws(StoreFailure) {
            order = try await self.order(id, at: now)
        } catch {
            if case .throttled = error { throw error }
            return .unknown
        }
        guard let order, order.token == purchase.token else { return .unknown }
        return switch order.state {
        case "PROCESSED": .paid
        case "REFUNDED": .givenBack
        case "PARTIALLY_REFUNDED": .givenBackInPart
        default: .unknown
        }
    }
}

extension Purchase {
    fileprivate func isCheckedWithinADay(before now: Timestamp) -> Bool {
        checkedAt.map { now - $0 < .days(1) } ?? false
    }
}
