import Renewal

/// Reads what one environment of the App Store Server API has answered: whether it is really
/// Apple who says so, and about this app.
struct AppleReader: Sendable {
    let verifier: AppleVerifier
    let bundleID: AppID
    /// The environment whose host has answered.
    let environment: StoreEnvironment
    let now: Timestamp

    func statuses(_ body: [UInt8]) throws(StoreFailure) -> AppleStatuses {
        let response = try JSON.decode(AppleStatusResponse.self, from: body)
        try check(bundleID: response.bundleId)
        try check(environment: response.environment)
        let entries = response.data.flatMap { $0.lastTransactions ?? [] }
        guard entries.count <= Self.entryLimit else { throw .malformed(field: "data") }
        return AppleStatuses(entries: entries, reader: self)
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
        return transaction
    }

    /// A signed transaction out of a payload that was verified: it is Apple who has put it there,
    /// so its own signature is not looked at again, but it must be of this app and environment.
    func transaction(
        insideOfVerified text: String, _ what: String
    ) throws(StoreFailure) -> AppleTransaction {
        guard let jws = CompactJWS(text) else { throw .malformed(field: what) }
        let transaction = try jws.unverified(AppleTransaction.self, calling: what)
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
            return AppleSubscription(
                status: entry.status, transaction: transaction, renewal: nil)
        }
        let renewal = try await verifier.read(
            AppleRenewal.self, from: text, calling: "signedRenewalInfo", at: now)
        guard renewal.originalTransactionId == transaction.originalTransactionId else {
            throw .mismatch(what: "transaction")
        }
        try check(environment: renewal.environment)
        return AppleSubscription(
            status: entry.status, transaction: transaction, renewal: renewal)
    }

    private func check(bundleID other: AppID?) throws(StoreFailure) {
        guard other ?? bundleID == bundleID else { throw .mismatch(what: "app") }
    }

    private func check(environment name: String?) throws(StoreFailure) {
        guard name ?? environment.appleName == environment.appleName else {
            throw .mismatch(what: "environment")
        }
    }

    private static let entryLimit = 64
}

/// The subscriptions of one customer, of which only those that matter are verified.
struct AppleStatuses: Sendable {
    fileprivate let entries: [AppleStatusResponse.Entry]
    fileprivate let reader: AppleReader
    private var known: [AppleSubscription]?

    fileprivate init(entries: [AppleStatusResponse.Entry], reader: AppleReader) {
        self.entries = entries
        self.reader = reader
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The subscription that one of these ids names: by its original transaction id, else by its
    /// latest transaction's own. What an upgrade has replaced gives way to what runs in its group,
    /// and so does a family's copy to the member's own, or the other way round, when it has ended.
    mutating func subscription(
        named ids: [OrderID]
    ) async throws(StoreFailure) -> AppleSubscription? {
        let exact = try await verified(
            entries.filter { $0.originalTransactionId.map(ids.contains) ?? false })
        let best = exact.min(by: AppleSubscription.precedes)
        if let best, best.isRunning || exact.count == entries.count { return best }
        let all = try await all()
        func isNamed(_ id: OrderID?) -> Bool { id.map(ids.contains) ?? false }
        let own =
            best ?? all.first { isNamed($0.transaction.originalTransactionId) }
            ?? all.first { isNamed($0.transaction.transactionId) }
        return own.map { heir(of: $0, among: all) }
    }

    /// The subscription of the only one that has this product.
    mutating func subscription(
        ofProduct product: ProductID
    ) async throws(StoreFailure) -> AppleSubscription? {
        let all = try await all()
        let own = all.filter { $0.transaction.productId == product }
        guard own.count == 1 else { return nil }
        return all.filter { $0.isInGroup(of: own[0].transaction) }
            .min(by: AppleSubscription.precedes)
    }

    /// What has become of the subscription of a transaction: by its original transaction id, or
    /// what its group shows instead.
    mutating func subscription(
        of transaction: AppleTransaction
    ) async throws(StoreFailure) -> AppleSubscription? {
        let all = try await all()
        let own = all.filter {
            $0.transaction.originalTransactionId == transaction.originalTransactionId
        }
        if let best = own.min(by: AppleSubscription.precedes) { return heir(of: best, among: all) }
        guard transaction.subscriptionGroupIdentifier != nil else { return nil }
        return all.filter { $0.isInGroup(of: transaction) }.min(by: AppleSubscription.precedes)
    }

    private func heir(
        of own: AppleSubscription, among all: [AppleSubscription]
    ) -> AppleSubscription {
        guard !own.isRunning else { return own }
        let group = all.filter { $0.isInGroup(of: own.transaction) }
        if own.isUpgraded { return group.min(by: AppleSubscription.precedes) ?? own }
        return group.first { $0.isRunning && $0.isFamilyShared != own.isFamilyShared } ?? own
    }

    private mutating func all() async throws(StoreFailure) -> [AppleSubscription] {
        if let known { return known }
        let all = try await verified(entries)
        known = all
        return all
    }

    private func verified(
        _ entries: [AppleStatusResponse.Entry]
    ) async throws(StoreFailure) -> [AppleSubscription] {
        var subscriptions: [AppleSubscription] = []
        for entry in entries { subscriptions.append(try await reader.verified(entry)) }
        return subscriptions
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

extension AppleSubscription {
    fileprivate func isInGroup(of other: AppleTransaction) -> Bool {
        guard let group = other.subscriptionGroupIdentifier else { return transaction == other }
        return transaction.subscriptionGroupIdentifier == group
    }
}
