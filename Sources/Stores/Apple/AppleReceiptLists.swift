import Renewal

/// The transactions of an answer of verifyReceipt, each once: what the App Store lists, and what
/// the receipt held when it was made.
///
/// What was restored has another id than what it is a copy of, and a later date of purchase. It is
/// for the same period, which has a number (`web_order_line_item_id`) and an end.
struct AppleReceiptLists: Sendable {
    /// What is as new as the answer.
    let latest: [AppleReceiptTransaction]
    /// That, and what the receipt alone holds, which may be old.
    let pool: [AppleReceiptTransaction]
    /// Whether the App Store lists the latest transaction that is known, or what it is a copy of.
    let showTheLatest: Bool
    /// Whether that, or the receipt.
    let haveTheLatest: Bool

    /// - Parameters:
    ///   - response: as it came.
    ///   - facts: what is known.
    ///   - now: when the answer was made.
    init(_ response: AppleReceiptResponse, _ facts: Facts, at now: Timestamp) {
        var seen: Set<OrderID> = []
        func isNew(_ transaction: AppleReceiptTransaction) -> Bool {
            transaction.transactionID.map { seen.insert($0).inserted } ?? false
        }
        let listed = (response.latest.all + response.latestExpired.all).filter(isNew)
        let (periods, chains) = (PaidPeriods(listed), Set(listed.map(\.chainID)))
        // Of the same period the list knows more: a receipt may be from before its refund.
        let held = Dictionary(grouping: response.held.filter(isNew), by: periods.have)
        showTheLatest = (listed + (held[true] ?? [])).contains {
            $0.transactionID != nil && $0.transactionID == facts.orderID
        }
        var beside = held[false] ?? []
        let takenBackAt = min(facts.expiresAt ?? now, facts.statedAt ?? now, now)
        for place in beside.indices {
            let isListed = chains.contains(beside[place].chainID)
            // A list has all that is sold once and was not used up.
            guard isListed || beside[place].expires == nil && !listed.isEmpty else { continue }
            beside[place].rememberRefund(of: facts, at: takenBackAt)
        }
        let all = PaidPeriods(listed + beside)
        latest = listed.map(all.dated)
        pool = latest + beside.map(all.dated)
        haveTheLatest = showTheLatest || beside.contains { $0.transactionID == facts.orderID }
    }
}

/// Transactions by the periods that they are for, and what is sold once by its sale.
private struct PaidPeriods {
    private enum Key: Hashable {
        case number(OrderID, of: ProductID?)
        /// Of a chain of transactions, to the second; of what is sold once its first purchase.
        case end(OrderID?, seconds: Int64?)
    }

    private let numbered: [Key: [AppleReceiptTransaction]]
    private let ending: [Key: [AppleReceiptTransaction]]

    init(_ transactions: [AppleReceiptTransaction]) {
        numbered = Dictionary(grouping: transactions.filter { $0.lineItem != nil }, by: Self.number)
        ending = Dictionary(grouping: transactions) { Self.end($0) }
    }

    private static func number(_ one: AppleReceiptTransaction) -> Key {
        one.lineItem.map { .number($0, of: one.productID) } ?? end(one)
    }

    private static func end(_ one: AppleReceiptTransaction, later seconds: Int64 = 0) -> Key {
        .end(one.chainID, seconds: one.mark.map { $0 / 1000 + seconds })
    }

    /// Those of the period of a transaction: by its number, or by its end.
    private func same(as one: AppleReceiptTransaction) -> [AppleReceiptTransaction] {
        let near: [Int64] = one.mark == nil ? [0] : [-1, 0, 1]
        return near.flatMap { ending[Self.end(one, later: $0)] ?? [] }
            .filter { $0.mark.isAbout(one.mark) }
            + (numbered[Self.number(one)] ?? []).filter(one.isForPeriod)
    }

    func have(_ one: AppleReceiptTransaction) -> Bool { !same(as: one).isEmpty }

    /// With the time at which its period was bought; where only a copy is shown that was restored
    /// after its end, nobody knows it.
    func dated(_ one: AppleReceiptTransaction) -> AppleReceiptTransaction {
        var dated = one
        dated.periodPurchased = one.purchased
        guard let end = one.expires, let bought = same(as: one).compactMap(\.purchased).min()
        else { return dated }
        dated.periodPurchased = bought < end ? bought : nil
        return dated
    }
}

extension AppleReceiptTransaction {
    /// What a subscription is known by over all its periods.
    var chainID: OrderID? { originalID ?? transactionID }

    /// Whether it is for the period of another one of that number. A copy comes later and ends no
    /// later: the period may have been extended since.
    fileprivate func isForPeriod(of other: AppleReceiptTransaction) -> Bool {
        let isLater = purchased ?? 0 > other.purchased ?? 0
        let (first, second) = isLater ? (other, self) : (self, other)
        return second.expires.isAbout(first.expires)
            || second.expires ?? .max <= first.expires ?? .max
    }

    /// Whether it is for the latest period that is known.
    func isFor(_ facts: Facts) -> Bool { lineItem.map { $0 == facts.period } ?? false }

    fileprivate func endsWith(_ end: Timestamp?) -> Bool {
        expires != nil && expires.isAbout(end.map { $0.microsecondsSinceEpoch / 1000 })
    }

    /// When its period ends; of what is sold once when it was first bought.
    fileprivate var mark: Int64? { expires ?? originallyPurchased }

    /// What is known to be taken back is so, where a receipt knows nothing of that.
    fileprivate mutating func rememberRefund(of facts: Facts, at instant: Timestamp) {
        guard facts.state == (isShared ? .revoked : .refunded), cancelled == nil,
            transactionID == facts.orderID || isFor(facts) || endsWith(facts.paidThrough)
        else { return }
        cancelled = instant.microsecondsSinceEpoch / 1000
    }
}

extension Int64? {
    /// Whether two dates, in milliseconds, are those of one period: they differ by less than a
    /// second.
    func isAbout(_ other: Int64?) -> Bool {
        guard let self, let other else { return self == other }
        // Nobody has looked yet whether they make sense.
        let gap = self.subtractingReportingOverflow(other)
        return !gap.overflow && gap.partialValue.magnitude < 1000
    }
}
