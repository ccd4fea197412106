// What hints have named and an answer may not show yet.
extension Clue {
    /// How long a refund that a hint has named is looked for.
    package static let disagreementLimit = Duration.days(3)
}

extension Judgement {
    /// Refunds that a hint has named and this answer does not show, and when each was heard of.
    private func unseenRefunds(_ settled: Set<Clue>) -> [(clue: Clue, heardAt: Timestamp)] {
        claim.purchase.clues.subtracting(settled).compactMap { clue in
            switch clue {
            case .refund, .revoked:
                (clue, claim.purchase.cluesHeardAt[clue] ?? moment.now)
            case .pause, .void:
                nil
            }
        }
    }

    /// When a product that is sold once was taken back, by the word of the list of voided purchases
    /// alone: it was named there three days ago, and the product reads as bought to this day. Nil
    /// where its order reads as paid too.
    var voidedAt: Timestamp? {
        guard facts.kind != .autoRenewable, observation.status == .active else { return nil }
        if let doubt = known.doubt, doubt.doubt == .voided, let order = known.orderID,
            order == facts.orderID
        {
            // Its order tells otherwise, since the refund was reversed.
            return observation.settledClues.contains(.refund(of: order)) ? nil : doubt.since
        }
        guard claim.purchase.app.store.traits.listsVoids, !observation.isSubstitute
        else { return nil }
        return unseenRefunds(observation.settledClues).filter { clue, heardAt in
            guard case .refund(let order) = clue, order == facts.orderID else { return false }
            return moment.now - heardAt >= Clue.disagreementLimit
        }
        .map(\.heardAt).min()
    }

    /// Clues that need no further look: what is shown, and what was looked for long enough.
    var settledClues: Set<Clue> {
        var settled = observation.settledClues.union(observation.pastRefunds.map(Clue.refund))
        // The same by other news, later, is no news.
        if facts.state == .refunded, let order = facts.orderID, known.state != .refunded {
            settled.insert(.refund(of: order))
        }
        let isShown = facts.state == .refunded && facts.kind != .autoRenewable
        for (clue, heardAt) in unseenRefunds(settled)
        where isShown || moment.now - heardAt >= lookLimit && !isOfThisPeriod(clue) {
            settled.insert(clue)
        }
        // It has been told with its refund, or never will be.
        let unseen = Set(unseenRefunds(settled).map(\.clue))
        let isAll = unseen.count == unseen.refundedOrders.count
        settled.formUnion(
            claim.purchase.clues.filter { clue in
                guard isAll, case .void(let order, _, _) = clue else { return false }
                return !unseen.refundedOrders.contains(order)
            })
        return settled
    }

    /// How long a refund that was named is looked for in answers like this one. What stands in for
    /// a purchase may go on lacking what would show it.
    private var lookLimit: Duration {
        observation.isSubstitute ? .days(30) : Clue.disagreementLimit
    }

    /// Whether it names the order of a period that runs on all the same: it is told when that is a
    /// past one, and is not looked for until then.
    private func isOfThisPeriod(_ clue: Clue) -> Bool {
        guard case .refund(let order) = clue else { return false }
        return facts.kind == .autoRenewable && facts.access == .granted && order == facts.orderID
    }

    /// What is known of the refund of an order; nil where nothing is.
    func refundNotes(of order: OrderID?) -> RefundNotes? {
        var notes = RefundNotes()
        guard let order else { return nil }
        notes.part = observation.refundedParts[order]
        // In an order that does not change: news of two parts may differ.
        for clue in claim.purchase.clues.sorted(by: { $0.text < $1.text }) {
            guard case .void(order, let source, let reason) = clue else { continue }
            (notes.source, notes.reason) = (source, reason)
        }
        return notes == RefundNotes() ? nil : notes
    }

    /// When the rest is looked for again: after 1, 5 and 15 minutes, then hourly.
    func nextLook(_ settled: Set<Clue>) -> Timestamp? {
        unseenRefunds(settled).filter { clue, heardAt in
            moment.now - heardAt < lookLimit || !isOfThisPeriod(clue)
        }
        .map { nextLook(since: $0.heardAt) }.min()
    }

    private func nextLook(since heardAt: Timestamp) -> Timestamp {
        let looks: [Duration] = [.minutes(1), .minutes(5), .minutes(15)]
        if let soon = looks.map({ heardAt + $0 }).first(where: { $0 > moment.now }) {
            return soon + .seconds(5 * moment.jitter)
        }
        let last = heardAt + Clue.disagreementLimit
        let hourly = moment.now + .hours(1)
        let next = last <= moment.now && observation.isSubstitute ? hourly : max(last, moment.now)
        return min(hourly, next) + .seconds(30 * moment.jitter)
    }
}
