import Renewal

/// One check of a purchase by the App Store Server API, from the first call to the answer.
///
/// A subscription that is known costs one call, and so does a one-time product. More are made at
/// first sight, where an answer does not hold what was asked about, and where a refund may have
/// passed unseen.
struct AppleEnquiry: Sendable {
    private let verifier: AppleVerifier
    private let bundleID: AppID
    private let facts: Facts
    private let subject: AppleSubject
    private let now: Timestamp
    private let options: Options
    private var calls: AppleCalls

    struct Options: Sendable {
        /// Whether the history of a new subscription is read for its offers.
        var readsOffers: Bool
        /// Transactions of this subscription whose refund has been heard of.
        var heardRefunds: Set<OrderID> = []
    }

    init(
        about subject: AppleSubject, facts: Facts, bundleID: AppID, verifier: AppleVerifier,
        calls: AppleCalls, options: Options, at now: Timestamp
    ) {
        self.subject = subject
        self.facts = facts
        self.bundleID = bundleID
        self.verifier = verifier
        self.calls = calls
        self.options = options
        self.now = now
    }

    /// What was found, its signatures verified.
    private enum Found {
        case subscription(AppleSubscription, StoreEnvironment)
        case oneTime(AppleTransaction, StoreEnvironment)
    }

    mutating func answer() async throws(StoreFailure) -> Answer {
        guard let found = try await find() else { return .doubt(.notFound) }
        var observation: Observation
        switch found {
        case .subscription(let subscription, let environment):
            observation = try subscription.observation(in: environment, at: now)
            // What stands in for it may be another's copy: the name stays.
            if subscription.transaction.originalTransactionId != facts.originalID {
                observation.originalID = facts.originalID ?? observation.originalID
            }
            try await complete(&observation, by: subscription, in: environment)
        case .oneTime(let transaction, let environment):
            observation = try transaction.oneTimeObservation(in: environment, at: now)
        }
        if subject.isMigrated, let id = observation.originalID {
            observation.nextToken = StoreToken(id.text)
            observation.isMigrated = true
        }
        return .verdict(observation)
    }

    private var isOneTime: Bool { facts.kind.map { $0 != .autoRenewable } ?? subject.isOneTime }

    /// The id that one transaction is asked for with.
    private var transactionID: OrderID { facts.originalID ?? subject.id }

    private mutating func find() async throws(StoreFailure) -> Found? {
        if isOneTime {
            guard let (body, reader) = try await located(.transaction(transactionID)) else {
                return nil
            }
            let transaction = try await own(reader.transaction(body))
            if !transaction.isSubscription { return .oneTime(transaction, reader.environment) }
            let reply = try await calls.reply(
                to: .statuses(of: subject.id), from: reader.environment)
            return try await find(in: try Self.body(of: reply), reader)
        }
        if let (body, reader) = try await located(.statuses(of: subject.id)) {
            return try await find(in: body, reader)
        }
        // Nobody has confirmed what is answered about a customer without subscriptions.
        guard facts.kind == nil, let (body, reader) = try await located(.transaction(subject.id))
        else { return nil }
        let transaction = try await own(reader.transaction(body))
        return try alone(transaction, in: reader.environment)
    }

    private mutating func find(
        in body: [UInt8]?, _ reader: AppleReader
    ) async throws(StoreFailure) -> Found? {
        guard let body else { return nil }
        let environment = reader.environment
        var statuses = try reader.statuses(body)
        let names = (subject.isNamed ? [subject.id] : []) + (facts.originalID.map { [$0] } ?? [])
        if let found = try await statuses.subscription(named: names) {
            return .subscription(found, environment)
        }
        // The product alone may be anybody's: it will do only while there is no other name.
        if facts.originalID == nil,
            let found = try await statuses.subscription(ofProduct: facts.product)
        {
            return .subscription(found, environment)
        }
        if facts.kind == .autoRenewable, statuses.isEmpty { return nil }
        guard let transaction = try await transaction(reader) else {
            return try await statuses.subscription(named: [subject.id])
                .map { .subscription($0, environment) }
        }
        guard transaction.isSubscription else { return .oneTime(transaction, environment) }
        if let found = try await statuses.subscription(of: transaction) {
            return .subscription(found, environment)
        }
        return try alone(transaction, in: environment)
    }

    /// The purchase's own transaction: by its id, else the latest of its product.
    private mutating func transaction(
        _ reader: AppleReader
    ) async throws(StoreFailure) -> AppleTransaction? {
        if subject.isNamed || facts.originalID != nil {
            let request = try AppleRequest.transaction(transactionID)
            let reply = try await calls.reply(to: request, from: reader.environment)
            if let body = try Self.body(of: reply) {
                return try await own(reader.transaction(body))
            }
            guard case .invalidIdentifier = reply else { return nil }
        }
        guard facts.originalID == nil else { return nil }
        let product = facts.product
        return try await history(.product(product), reader) { $0.productId == product }
    }

    /// - Throws: `.mismatch` when it is not what was asked for.
    private func own(_ transaction: AppleTransaction) throws(StoreFailure) -> AppleTransaction {
        let ids = [transaction.transactionId, transaction.originalTransactionId]
        guard ids.contains(transactionID) else { throw .mismatch(what: "purchase") }
        return transaction
    }

    /// A subscription's transaction of which no status was told: its own signed dates may do.
    private func alone(
        _ transaction: AppleTransaction, in environment: StoreEnvironment
    ) throws(StoreFailure) -> Found? {
        guard transaction.isSubscription else { return .oneTime(transaction, environment) }
        func found(_ status: Int) -> Found {
            .subscription(
                AppleSubscription(status: status, transaction: transaction, renewal: nil),
                environment)
        }
        if transaction.revocationDate != nil { return found(5) }
        let stated = transaction.signedDate?.value ?? now.microsecondsSinceEpoch / 1000
        if let expires = transaction.expiresDate?.value, expires > stated,
            transaction.isUpgraded != true
        {
            return found(1)
        }
        guard facts.state == .new else { throw .mismatch(what: "purchase") }
        return nil
    }

    private static func body(of reply: AppleReply) throws(StoreFailure) -> [UInt8]? {
        switch reply {
        case .answer(let body): return body
        case .notFound, .invalidIdentifier: return nil
        case .unauthorized: throw refused
        case .failed(let failure): throw failure
        }
    }

    /// A known environment is asked alone; an unknown one is found by asking the likely one first.
    /// What one environment does not know is in doubt only when the other does not know it either:
    /// nil then.
    private mutating func located(
        _ request: AppleRequest
    ) async throws(StoreFailure) -> ([UInt8], AppleReader)? {
        let first = subject.environment ?? subject.likely
        let reply = try await calls.reply(to: request, from: first)
        switch reply {
        case .answer(let body):
            return (body, reader(first))
        case .failed(let failure):
            throw failure
        case .unauthorized where subject.environment != nil:
            throw Self.refused
        case .invalidIdentifier where subject.environment != nil:
            throw Self.rejected
        case .notFound, .unauthorized, .invalidIdentifier:
            break
        }
        let second = try await calls.reply(to: request, from: first.other)
        if case .answer(let body) = second, subject.environment == nil {
            return (body, reader(first.other))
        }
        try Self.conclude(from: reply, and: second)
        return nil
    }

    /// What two environments say together, of which none has given an answer to read. Returns
    /// when neither knows the purchase.
    private static func conclude(
        from first: AppleReply, and second: AppleReply
    ) throws(StoreFailure) {
        switch (first, second) {
        case (_, .failed(let failure)): throw failure
        case (_, .answer): throw .mismatch(what: "environment")
        case (.notFound, .notFound): return
        case (.unauthorized, .unauthorized): throw refused
        // One of them knows nothing of the app, as before its first release: no answer.
        case (.unauthorized, _), (_, .unauthorized):
            throw .unreachable(reason: "one environment refused the token")
        default: throw rejected
        }
    }

    private func reader(_ environment: StoreEnvironment) -> AppleReader {
        AppleReader(verifier: verifier, bundleID: bundleID, environment: environment, now: now)
    }

    private static let refused = StoreFailure.refused(reason: "status 401")
    private static let rejected = StoreFailure.rejected(reason: "not a transaction id")
}

// What the statuses do not tell. None of it is worth losing the verdict for.
extension AppleEnquiry {
    private mutating func complete(
        _ observation: inout Observation, by subscription: AppleSubscription,
        in environment: StoreEnvironment
    ) async throws(StoreFailure) {
        let reader = reader(environment)
        if options.readsOffers, facts.usedIntroductory == nil, observation.usedIntroductory == nil {
            observation.usedIntroductory = await usedIntroductory(subscription, reader)
        }
        await noteRefunds(&observation, by: subscription.transaction, reader)
    }

    private mutating func usedIntroductory(
        _ subscription: AppleSubscription, _ reader: AppleReader
    ) async -> Bool? {
        guard let group = subscription.transaction.subscriptionGroupIdentifier else { return nil }
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
    private mutating func noteRefunds(
        _ observation: inout Observation, by current: AppleTransaction, _ reader: AppleReader
    ) async {
        var heard = options.heardRefunds
        if let id = current.transactionId, heard.remove(id) != nil,
            case .refunded = observation.standing
        {
            observation.settledClues.insert(.refund(of: id))
        }
        let isTurnedOff =
            facts.autoRenew == true && observation.willRenew == false
            && !facts.signals.contains(.pastPeriodRefunded)
        guard observation.standing == .active, isTurnedOff || !heard.isEmpty else { return }
        guard let found = await refunds(before: current, atLeast: heard, reader) else { return }
        observation.pastRefunds = heard.isEmpty ? found : found.intersection(heard)
        if !observation.pastRefunds.isEmpty { observation.signals.insert(.pastPeriodRefunded) }
    }

    /// The refunded transactions of the subscription other than its current one; nil when the
    /// history cannot be read. It is read no further than needed.
    private mutating func refunds(
        before current: AppleTransaction, atLeast heard: Set<OrderID>, _ reader: AppleReader
    ) async -> Set<OrderID>? {
        let id = current.originalTransactionId ?? subject.id
        var found: Set<OrderID> = []
        do throws(StoreFailure) {
            _ = try await pages(reader) { (revision) throws(StoreFailure) in
                try .refunds(of: id, revision: revision)
            } first: { transaction in
                if transaction.originalTransactionId == current.originalTransactionId,
                    transaction.transactionId != current.transactionId,
                    transaction.revocationDate != nil, transaction.isUpgraded != true,
                    let id = transaction.transactionId
                {
                    found.insert(id)
                }
                return !heard.isEmpty && heard.isSubset(of: found)
            }
            return found
        } catch {
            return nil
        }
    }

    /// The first transaction of the customer's history that will do.
    private mutating func history(
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
                throw .unreachable(reason: "the history is not there")
            }
            let page = try await reader.page(body)
            if let found = page.transactions.first(where: isMeant) { return found }
            guard let next = page.revision else { return nil }
            guard seen.insert(next).inserted else { break }
            revision = next
        }
        throw .malformed(field: "revision")
    }

    /// Of 20 transactions each.
    private static let pageLimit = 50
}
