import Renewal

// What the statuses do not tell. None of it is worth losing the verdict for. What is not inlined
// would keep its values for as long as Apple is waited for.
extension AppleEnquiry {
    mutating func complete(
        _ observation: inout Observation, by own: AppleTransaction, _ reader: AppleReader
    ) async {
        if options.readsOffers, facts.usedIntroductory == nil, observation.usedIntroductory == nil {
            observation.usedIntroductory = await usedIntroductory(own, reader)
        }
        settle(&observation, own)
        guard let heard = heardRefunds(besides: own, observation),
            let found = await refunds(besides: own, atLeast: heard, reader)
        else { return }
        note(found, heard, besides: own, in: &observation)
    }

    private mutating func usedIntroductory(
        _ own: AppleTransaction, _ reader: AppleReader
    ) async -> Bool? {
        guard let group = own.subscriptionGroupIdentifier else { return nil }
        do throws(StoreFailure) {
            return try await history(.group(group), reader) { $0.offerType == 1 } != nil
        } catch {
            // It is asked again with the next check.
            return nil
        }
    }

    /// The statuses show the latest period only. When an earlier one is refunded, Apple says so in
    /// a notification and turns renewal off: the history of refunds shows which it was. What it
    /// does not show yet is looked for again at the next check.
    ///
    /// - Returns: those that were heard of; nil where there is nothing to look for.
    @inline(never)
    private func heardRefunds(
        besides current: AppleTransaction, _ observation: Observation
    ) -> Set<OrderID>? {
        var heard = options.heardRefunds
        if let id = current.transactionId { heard.remove(id) }
        let isTurnedOff =
            observation.status == .active && facts.autoRenew == true
            && observation.willRenew == false
        return isTurnedOff || !heard.isEmpty ? heard : nil
    }

    @inline(never)
    private func note(
        _ refunds: [AppleTransaction], _ heard: Set<OrderID>, besides current: AppleTransaction,
        in observation: inout Observation
    ) {
        for refund in refunds {
            guard let id = refund.transactionId else { continue }
            let isNews = heard.isEmpty && isNews(refund)
            guard heard.contains(id) || isNews else { continue }
            if refund.mayPayWithOthers, refund.paysSamePeriod(as: current) {
                observation.settledClues.insert(.refund(of: id))
                observation.isRefundedInPart = observation.status == .active
            } else if hasEndedAccess(refund, before: current) {
                observation.settledClues.insert(.refund(of: id))
            } else {
                observation.pastRefunds.insert(id)
                observation.signals.insert(.pastPeriodRefunded)
            }
        }
    }

    /// A refund of the transaction itself, once the answer shows it.
    func settle(_ observation: inout Observation, _ current: AppleTransaction) {
        guard let id = current.transactionId, options.heardRefunds.contains(id),
            current.revocationDate != nil
        else { return }
        observation.settledClues.insert(.refund(of: id))
    }

    /// Whether nobody can have been told of it: it came after all that is known.
    private func isNews(_ refund: AppleTransaction) -> Bool {
        guard facts.signals.contains(.pastPeriodRefunded) else { return true }
        guard let known = facts.statedAt,
            let at = refund.revocationDate.flatMap({ Timestamp(millisecondsSinceEpoch: $0) })
        else { return false }
        return at > known
    }

    /// Whether the period that was refunded was the latest then: its end was told as a revoke, and
    /// what runs now was bought after it.
    private func hasEndedAccess(
        _ refund: AppleTransaction, before current: AppleTransaction
    ) -> Bool {
        if refund.transactionId == facts.orderID, facts.state != .refunded { return false }
        guard let at = refund.revocationDate, let began = refund.purchaseDate,
            let end = refund.expiresDate, let next = current.purchaseDate
        else { return false }
        return began <= at && at < end && at <= next
    }

    /// The refunded transactions of the subscription other than its current one; nil when the
    /// history cannot be read. It is read no further than needed.
    private mutating func refunds(
        besides current: AppleTransaction, atLeast heard: Set<OrderID>, _ reader: AppleReader
    ) async -> [AppleTransaction]? {
        let id = current.originalTransactionId ?? subject.id
        var found: [AppleTransaction] = []
        var missing = heard
        do throws(StoreFailure) {
            _ = try await pages(reader) { (revision) throws(StoreFailure) in
                try .refunds(of: id, revision: revision)
            } first: { transaction in
                if transaction.originalTransactionId == current.originalTransactionId,
                    transaction.transactionId != current.transactionId,
                    transaction.revocationDate != nil, transaction.isUpgraded != true,
                    let id = transaction.transactionId
                {
                    found.append(transaction)
                    missing.remove(id)
                }
                return !heard.isEmpty && missing.isEmpty
            }
            return found
        } catch {
            return nil
        }
    }

    /// Whether the history of refunds has that transaction; false as well where there is none.
    mutating func isRefunded(
        _ order: OrderID, of shown: AppleTransaction, _ reader: AppleReader
    ) async throws(StoreFailure) -> Bool {
        let id = shown.originalTransactionId ?? subject.id
        do throws(StoreFailure) {
            return try await pages(reader) { (revision) throws(StoreFailure) in
                try .refunds(of: id, revision: revision)
            } first: {
                $0.transactionId == order && $0.revocationDate != nil
            } != nil
        } catch {
            guard error == Self.missingHistory else { throw error }
            return false
        }
    }

    /// The first transaction of the customer's history that will do; nil as well where Apple has no
    /// history of the customer.
    ///
    /// - Throws: why the history cannot be read: what is in it is not known then.
    mutating func search(
        _ filter: AppleRequest.HistoryFilter, _ reader: AppleReader,
        for isMeant: (AppleTransaction) -> Bool
    ) async throws(StoreFailure) -> AppleTransaction? {
        do throws(StoreFailure) {
            return try await history(filter, reader, first: isMeant)
        } catch {
            guard error == Self.missingHistory else { throw error }
            return nil
        }
    }

    /// The first transaction of the customer's history that will do.
    ///
    /// - Throws: `missingHistory` where Apple has none, and why it cannot be read.
    mutating func history(
        _ filter: AppleRequest.HistoryFilter, _ reader: AppleReader,
        first isMeant: (AppleTransaction) -> Bool
    ) async throws(StoreFailure) -> AppleTransaction? {
        let id = transactionID
        return try await pages(reader) { (revision) throws(StoreFailure) in
            try .history(of: id, filter, revision: revision)
        } first: {
            isMeant($0)
        }
    }

    /// - Throws: `.malformed` when the pages go round in circles or do not end.
    private mutating func pages(
        _ reader: AppleReader,
        request: (String?) throws(StoreFailure) -> AppleRequest,
        first isMeant: (AppleTransaction) -> Bool
    ) async throws(StoreFailure) -> AppleTransaction? {
        var revision: String?
        var seen: Set<String> = []
        for _ in 0..<Self.pageLimit {
            let reply = try await calls.reply(to: request(revision), from: reader.environment)
            guard let body = try Self.body(of: reply) else {
                throw Self.missingHistory
            }
            let page = try await reader.page(body)
            if let found = page.transactions.first(where: isMeant) { return found }
            guard let next = page.revision else { return nil }
            guard seen.insert(next).inserted else { break }
            revision = next
        }
        throw .malformed(field: "revision")
    }

    /// Of all faults this one alone says something of what would be in it.
    static let missingHistory = StoreFailure.unreachable(reason: "the history is missing")

    /// Of 20 transactions each.
    private static let pageLimit = 50
}
