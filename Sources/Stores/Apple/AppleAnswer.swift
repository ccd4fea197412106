import Renewal

/// Reads what one environment of the App Store Server API has answered: whether it is really
/// Apple who says so, and about this app.
struct AppleReader: Sendable {
    let verifier: AppleVerifier
    let bundleID: AppID
    /// The environment whose host has answered.
    let environment: StoreEnvironment
    let time: AppleTime

    var now: Timestamp { time.now }

    func statuses(
        _ body: [UInt8], of customer: AppleCustomer
    ) throws(StoreFailure) -> AppleStatuses {
        let response = try AppleStatusResponse(body)
        try check(bundleID: response.bundleId)
        try check(environment: response.environment)
        guard response.entries.count <= Self.entryLimit else { throw .malformed(field: "data") }
        return AppleStatuses(entries: response.entries, of: customer, reader: self)
    }

    func transaction(_ body: [UInt8]) async throws(StoreFailure) -> AppleTransaction {
        let response = try JSON.decode(AppleTransactionResponse.self, from: body)
        return try await transaction(response.signedTransactionInfo, "signedTransactionInfo")
    }

    /// A page of the transaction history or of the refund history.
    func page(_ body: [UInt8]) async throws(StoreFailure) -> AppleHistoryPage {
        let response = try JSON.decode(AppleHistoryResponse.self, from: body)
        try check(bundleID: response.bundleId)
        try check(environment: response.environment)
        let texts = response.signedTransactions ?? []
        guard texts.count <= Self.entryLimit else {
            throw .malformed(field: "signedTransactions")
        }
        var transactions: [AppleTransaction] = []
        for text in texts {
            transactions.append(try await transaction(text, "signedTransactions"))
        }
        return AppleHistoryPage(
            transactions: transactions,
            revision: response.hasMore == true ? response.revision : nil)
    }

    /// Verifies a signed transaction and that it is of this app and environment.
    func transaction(
        _ text: String, _ what: String
    ) async throws(StoreFailure) -> AppleTransaction {
        let transaction = try await verifier.read(
            AppleTransaction.self, from: text, calling: what, at: now)
        try check(transaction, what)
        try refuseFuture(transaction.signedDate, "\(what).signedDate")
        for taken in transaction.revocationDates {
            try refuseFuture(taken, "\(what).revocationDate", tolerating: .days(1))
        }
        return transaction
    }

    /// What claims to be signed after the answer that it is in is nonsense, and would silence all
    /// that comes later (rule 11). The store's own clock counts, where it says what it shows.
    func refuseFuture(
        _ date: Int64?, _ field: String, tolerating lead: Duration = .zero
    ) throws(StoreFailure) {
        guard let date else { return }
        guard
            Timestamp(millisecondsSinceEpoch: date).map({ $0 <= time.latest + lead }) ?? false
        else { throw .malformed(field: "\(field) is in the future") }
    }

    /// A signed transaction out of a payload that was verified: it is Apple who has put it there,
    /// so its own signature is not looked at again, but it must be of this app and environment.
    func transaction(
        insideOfVerified text: String, _ what: String
    ) throws(StoreFailure) -> AppleTransaction {
        guard let jws = CompactJWS(text) else { throw .malformed(field: what) }
        let transaction = try AppleTransaction(jws.unverified(calling: what))
        try check(transaction, what)
        return transaction
    }

    private func check(_ transaction: AppleTransaction, _ what: String) throws(StoreFailure) {
        try transaction.check(bundleID: bundleID)
        guard transaction.environment != nil else {
            throw .malformed(field: "\(what).environment")
        }
        try check(environment: transaction.environment)
        guard transaction.originalTransactionId != nil else {
            throw .malformed(field: "\(what).originalTransactionId")
        }
    }

    fileprivate func verified(
        _ entry: AppleStatusResponse.Entry
    ) async throws(StoreFailure) -> AppleSubscription {
        let transaction = try await transaction(
            entry.signedTransactionInfo, "signedTransactionInfo")
        guard
            entry.originalTransactionId ?? transaction.originalTransactionId
                == transaction.originalTransactionId
        else { throw .mismatch(what: "transaction") }
        guard let text = entry.signedRenewalInfo else {
            return subscription(entry.status, transaction, nil)
        }
        let renewal = try await verifier.read(
            AppleRenewal.self, from: text, calling: "signedRenewalInfo", at: now)
        guard renewal.originalTransactionId == transaction.originalTransactionId else {
            throw .mismatch(what: "transaction")
        }
        try check(environment: renewal.environment)
        try refuseFuture(renewal.signedDate, "signedRenewalInfo.signedDate")
        return subscription(entry.status, transaction, renewal)
    }

    func subscription(
        _ status: Int, _ transaction: AppleTransaction, _ renewal: AppleRenewal?
    ) -> AppleSubscription {
        AppleSubscription(
            status: status, transaction: transaction, renewal: renewal,
            time: time(of: transaction))
    }

    /// When the answer was made, or where it does not say that, when this part of it was signed.
    func time(of transaction: AppleTransaction) -> AppleTime {
        time.told(
            atLeast: transaction.signedDate.flatMap {
                Timestamp(millisecondsSinceEpoch: $0)
            })
    }

    private func check(bundleID other: AppID?) throws(StoreFailure) {
        guard other ?? bundleID == bundleID else { throw .mismatch(what: "app") }
    }

    private func check(environment name: String?) throws(StoreFailure) {
        try environment.check(appleName: name)
    }

    private static let entryLimit = 64
}

/// The subscriptions of one customer, of which only those that matter are verified.
struct AppleStatuses: Sendable {
    fileprivate let entries: [AppleStatusResponse.Entry]
    fileprivate let reader: AppleReader
    private let customer: AppleCustomer
    private var known: [AppleSubscription]?
    /// Why an entry could not be read that nobody has asked for by its name.
    private var failure: StoreFailure?
    /// The same of the entries whose status, which is not signed, says that they run.
    private var unreadRunning: [(group: GroupID?, failure: StoreFailure)] = []

    fileprivate init(
        entries: [AppleStatusResponse.Entry], of customer: AppleCustomer, reader: AppleReader
    ) {
        self.entries = entries
        self.customer = customer
        self.reader = reader
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The purchase's own subscription: by its original transaction id, else by its latest
    /// transaction's own.
    mutating func own(named ids: [OrderID]) async throws(StoreFailure) -> AppleSubscription? {
        var exact: [AppleSubscription] = []
        for entry in entries where entry.originalTransactionId.map(ids.contains) ?? false {
            exact.append(try await reader.verified(entry))
        }
        if let best = exact.min(by: AppleSubscription.precedes) { return best }
        let all = await all()
        func best(_ id: KeyPath<AppleTransaction, OrderID?>) -> AppleSubscription? {
            all.filter { $0.transaction[keyPath: id].map(ids.contains) ?? false }
                .min(by: AppleSubscription.precedes)
        }
        return best(\.originalTransactionId) ?? best(\.previousOriginalTransactionId)
            ?? best(\.transactionId)
    }

    /// The subscription of the only one that has this product, or of the only one of these that
    /// runs.
    mutating func own(ofProduct product: ProductID) async -> AppleSubscription? {
        let all = await all().filter { $0.transaction.productId == product }
        let running = all.filter(\.isRunning)
        return all.count == 1 ? all[0] : running.count == 1 ? running[0] : nil
    }

    /// What runs in the group of a purchase whose own subscription does not: what an upgrade or a
    /// new purchase has put in its place, or a family's copy beside the member's own. It can only
    /// give. What the app has sold to another of its users is no stand-in.
    mutating func standIn(
        for own: AppleTransaction?, in group: GroupID?
    ) async throws(StoreFailure) -> AppleSubscription? {
        guard let group = own?.subscriptionGroupIdentifier ?? group else { return nil }
        let others = await all().filter { other in
            other.transaction.subscriptionGroupIdentifier == group && other.isRunning
                && other.transaction.originalTransactionId != own?.originalTransactionId
        }
        return try await best(of: others, beside: own)
    }

    /// The first of these that is no other user's.
    private func best(
        of others: [AppleSubscription], beside own: AppleTransaction?
    ) async throws(StoreFailure) -> AppleSubscription? {
        for other in others.sorted(by: AppleSubscription.precedes) {
            let (id, token) = (
                other.transaction.originalTransactionId, other.transaction.appAccountToken
            )
            guard
                try await customer.isAnothers(id, named: token, beside: own?.appAccountToken)
            else { return other }
        }
        return nil
    }

    /// What a purchase was in force by after its own subscription had ended: how that ended is how
    /// the purchase has.
    mutating func followed(
        by facts: Facts, after own: AppleTransaction
    ) async throws(StoreFailure) -> AppleSubscription? {
        guard let group = own.subscriptionGroupIdentifier else { return nil }
        let ownEnd = own.expiresDate.flatMap { Timestamp(millisecondsSinceEpoch: $0) }
        let wasPaidLater = facts.paidThrough ?? .never > ownEnd ?? .never
        let others = await all().filter { other in
            guard other.transaction.subscriptionGroupIdentifier == group,
                other.transaction.originalTransactionId != own.originalTransactionId
            else { return false }
            let isLater =
                other.transaction.purchaseDate ?? 0 > own.purchaseDate ?? 0
            return other.transaction.transactionId == facts.orderID
                || wasPaidLater && isLater && !other.isShared
        }
        return try await best(of: others, beside: own)
    }

    /// The family's copy by which a purchase was in force (it names the transaction of that), when
    /// the sharing has ended: also after it was renewed, unseen.
    mutating func lostCopy(
        for own: AppleTransaction, knowing facts: Facts
    ) async -> AppleSubscription? {
        guard let order = facts.orderID, order != own.transactionId,
            let group = own.subscriptionGroupIdentifier
        else { return nil }
        let lost = await all().filter { other in
            other.transaction.subscriptionGroupIdentifier == group && other.isShared
                && other.status == 5 && other.transaction.revocationDate != nil
        }
        return lost.first { $0.transaction.transactionId == order }
            ?? lost.first { !own.isShared && facts.mayHaveBeenHeld(by: $0) }
    }

    /// Whether a transaction is the latest one of a subscription of the customer.
    mutating func shows(_ id: OrderID) async -> Bool {
        await all().contains { $0.transaction.transactionId == id }
    }

    /// Whether a subscription is there by its period of that time, in milliseconds since 1970, or
    /// by a later one.
    mutating func shows(_ original: OrderID, boughtSince purchase: Int64) async -> Bool {
        await all().contains { other in
            other.transaction.originalTransactionId == original
                && other.transaction.purchaseDate ?? 0 >= purchase
        }
    }

    /// Whether there may be another one in the group of a subscription by which the purchase was
    /// in force.
    mutating func mayShowHeir(of own: AppleSubscription, knowing facts: Facts) async -> Bool {
        let (id, group) = (
            own.transaction.originalTransactionId, own.transaction.subscriptionGroupIdentifier
        )
        let paid = (facts.paidThrough ?? .never) - .minutes(1)
        func lasts(_ other: AppleTransaction) -> Bool {
            let end = other.expiresDate.flatMap { Timestamp(millisecondsSinceEpoch: $0) }
            return end.map { $0 >= paid } ?? false
        }
        let others = await all().contains { other in
            other.transaction.subscriptionGroupIdentifier == group
                && other.transaction.originalTransactionId != id
                && (other.isRunning || lasts(other.transaction))
        }
        return others || failure != nil
    }

    /// - Throws: why an entry could not be read, where one could not: it may have been what was
    ///   looked for.
    func refuseUnread() throws(StoreFailure) {
        if let failure { throw failure }
    }

    /// - Throws: why an entry could not be read that says that it runs in the group of `own`, where
    ///   one could not: it may be what gives access.
    func refuseUnreadRunning(besides own: AppleTransaction) throws(StoreFailure) {
        let group = own.subscriptionGroupIdentifier
        for unread in unreadRunning where unread.group ?? group == group { throw unread.failure }
    }

    /// All that can be read.
    private mutating func all() async -> [AppleSubscription] {
        if let known { return known }
        var all: [AppleSubscription] = []
        for entry in entries {
            do throws(StoreFailure) {
                all.append(try await reader.verified(entry))
            } catch {
                failure = failure ?? error
                if [1, 4].contains(entry.status) { unreadRunning.append((entry.group, error)) }
            }
        }
        known = all
        return all
    }
}

extension Facts {
    /// Whether it was in force by a copy, and this one was taken away after that was said.
    fileprivate func mayHaveBeenHeld(by copy: AppleSubscription) -> Bool {
        guard ownership == .familyShared || ownership == .assigned, let known = statedAt,
            let at = copy.transaction.revocationDate.flatMap({
                Timestamp(millisecondsSinceEpoch: $0)
            })
        else { return false }
        return at > known
    }
}

struct AppleHistoryPage: Sendable {
    let transactions: [AppleTransaction]
    /// What to ask for the next page with; nil at the end.
    let revision: String?
}

extension AppleTransaction {
    /// - Throws: `.mismatch` when it is of another app. A few old non-consumables name none.
    func check(bundleID: AppID) throws(StoreFailure) {
        guard bundleId == bundleID || (bundleId == nil && type == "Non-Consumable") else {
            throw .mismatch(what: "app")
        }
    }
}
