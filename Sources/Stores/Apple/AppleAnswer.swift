import Renewal

/// Reads an answer of Get All Subscription Statuses: which of the customer's subscriptions is the
/// one that was asked about, and whether it is really Apple who says so.
struct AppleAnswerReader: Sendable {
    let verifier: AppleVerifier
    let bundleID: String
    /// The environment whose host has answered.
    let environment: StoreEnvironment
    /// The id that was asked with.
    let asked: String
    let facts: Facts
    let now: Timestamp

    func answer(_ body: [UInt8]) async throws(StoreFailure) -> Answer {
        let response = try JSON.decode(AppleStatusResponse.self, from: body)
        try check(bundleID: response.bundleId)
        try check(environment: response.environment)
        let entries = response.data.flatMap { $0.lastTransactions ?? [] }
        guard entries.count <= Self.entryLimit else { throw .malformed(field: "data") }
        guard let found = try await subscription(among: entries) else { return .doubt(.notFound) }
        return .verdict(try found.observation(in: environment, at: now))
    }

    /// By the id, by a transaction's own id, by the group of the known product; never simply the
    /// first: the answer holds all groups of the customer.
    private func subscription(
        among entries: [AppleStatusResponse.Entry]
    ) async throws(StoreFailure) -> AppleSubscription? {
        let exact = try await verified(entries.filter { isAsked($0.originalTransactionId) })
        if let best = exact.min(by: AppleSubscription.precedes), !best.isUpgraded { return best }
        guard exact.count < entries.count else { return exact.first }
        let all = try await verified(entries)
        let named =
            all.first { isAsked($0.transaction.originalTransactionId) }
            ?? all.first { isAsked($0.transaction.transactionId) }
        // The product alone may be anybody's: it will do only while the purchase has no other name.
        if named == nil, facts.originalID != nil, !all.isEmpty { throw .mismatch(what: "purchase") }
        let own = named ?? all.first { $0.transaction.productId == facts.product }
        guard let own else { return nil }
        return all.filter { $0.isInGroup(of: own) }.min(by: AppleSubscription.precedes) ?? own
    }

    private func isAsked(_ id: String?) -> Bool {
        guard let id else { return false }
        return id == asked || id == facts.originalID
    }

    private func verified(
        _ entries: [AppleStatusResponse.Entry]
    ) async throws(StoreFailure) -> [AppleSubscription] {
        var subscriptions: [AppleSubscription] = []
        for entry in entries { subscriptions.append(try await verified(entry)) }
        return subscriptions
    }

    private func verified(
        _ entry: AppleStatusResponse.Entry
    ) async throws(StoreFailure) -> AppleSubscription {
        let transaction = try await verifier.read(
            AppleTransaction.self, from: entry.signedTransactionInfo,
            calling: "signedTransactionInfo", at: now)
        try check(transaction)
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

    private func check(_ transaction: AppleTransaction) throws(StoreFailure) {
        try transaction.check(bundleID: bundleID)
        guard transaction.environment != nil else {
            throw .malformed(field: "signedTransactionInfo.environment")
        }
        try check(environment: transaction.environment)
        guard transaction.originalTransactionId != nil else {
            throw .malformed(field: "signedTransactionInfo.originalTransactionId")
        }
    }

    private func check(bundleID other: String?) throws(StoreFailure) {
        guard other ?? bundleID == bundleID else { throw .mismatch(what: "app") }
    }

    private func check(environment name: String?) throws(StoreFailure) {
        guard name ?? environment.appleName == environment.appleName else {
            throw .mismatch(what: "environment")
        }
    }

    private static let entryLimit = 64
}

extension AppleTransaction {
    /// - Throws: `.mismatch` when it is of another app. A few old non-consumables name none.
    func check(bundleID: String) throws(StoreFailure) {
        guard bundleId == bundleID || (bundleId == nil && type == "Non-Consumable") else {
            throw .mismatch(what: "app")
        }
    }
}

extension AppleSubscription {
    fileprivate func isInGroup(of other: AppleSubscription) -> Bool {
        guard let group = other.transaction.subscriptionGroupIdentifier else {
            return transaction == other.transaction
        }
        return transaction.subscriptionGroupIdentifier == group
    }
}
