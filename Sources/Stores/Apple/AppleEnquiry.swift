import Renewal

/// One check of a purchase by the App Store Server API, from the first call to the answer.
///
/// A subscription that is known costs one call, and so does a one-time product. More are made at
/// first sight, where an answer does not hold what was asked about, and where a refund may have
/// passed unseen.
struct AppleEnquiry: Sendable {
    let verifier: AppleVerifier
    let bundleID: AppID
    let facts: Facts
    let subject: AppleSubject
    let customer: AppleCustomer
    let now: Timestamp
    let options: Options
    var calls: AppleCalls
    /// What bore the known name is a transaction of another name now.
    private(set) var hasOtherName = false

    struct Options: Sendable {
        /// Whether the history of a new subscription is read for its offers.
        var readsOffers: Bool
        /// Transactions of this subscription whose refund has been heard of.
        var heardRefunds: Set<OrderID> = []
        /// When the last verdict was heard.
        var checkedAt: Timestamp?
        /// Whether what contradicts the known may be an older copy.
        var mayBeAhead = true
    }

    init(
        about subject: AppleSubject, of customer: AppleCustomer, facts: Facts, bundleID: AppID,
        verifier: AppleVerifier, calls: AppleCalls, options: Options, at now: Timestamp
    ) {
        self.subject = subject
        self.customer = customer
        self.facts = facts
        self.bundleID = bundleID
        self.verifier = verifier
        self.calls = calls
        self.options = options
        self.now = now
    }

    mutating func answer() async throws(StoreFailure) -> Answer {
        guard let (found, reader) = try await find() else { return .doubt(.notFound) }
        guard var observed = try observed(found, by: reader) else { return .doubt(.unproven) }
        if observed.reading.observation.givesAccess, let shown = found.shown {
            try await requireReversal(of: shown, reader)
        }
        if let name = found.name {
            await complete(&observed.reading.observation, by: name, reader)
        }
        return answer(observed, by: found)
    }

    private var isOneTime: Bool { facts.kind.map { $0 != .autoRenewable } ?? subject.isOneTime }

    /// The id that one transaction is asked for with.
    var transactionID: OrderID { facts.originalID ?? subject.id }

    private mutating func find() async throws(StoreFailure) -> (AppleFound, AppleReader)? {
        if isOneTime {
            guard let (body, reader) = try await located(.transaction(transactionID)) else {
                return nil
            }
            guard let transaction = try await told(by: body, reader) else { return nil }
            if !transaction.isSubscription { return (.oneTime(transaction), reader) }
            let reply = try await calls.reply(
                to: .statuses(of: subject.id), from: reader.environment)
            guard let found = try await find(in: try Self.body(of: reply), reader) else {
                return nil
            }
            return (found, reader)
        }
        if let (body, reader) = try await located(.statuses(of: subject.id)) {
            return try await find(in: body, reader).map { ($0, reader) }
        }
        // Nobody has confirmed what is answered about a customer without subscriptions; and what
        // a product is, Apple says.
        guard let (body, reader) = try await located(.transaction(transactionID)) else {
            return nil
        }
        guard let transaction = try await told(by: body, reader) else { return nil }
        return alone(transaction, reader).map { ($0, reader) }
    }

    private mutating func find(
        in body: [UInt8]?, _ reader: AppleReader
    ) async throws(StoreFailure) -> AppleFound? {
        guard let body else { return nil }
        var statuses = try reader.statuses(body, of: customer)
        let names = (subject.isNamed ? [subject.id] : []) + (facts.originalID.map { [$0] } ?? [])
        var own = try await statuses.own(named: names)
        // The product alone may be anybody's: it will do only while there is no other name. An old
        // renewal's id is one, though no status shows it.
        if own == nil, facts.originalID == nil, !subject.isNamed {
            own = await statuses.own(ofProduct: facts.product)
        }
        if let own { return try await found(own, &statuses, reader) }
        guard let transaction = try await transaction(reader) else {
            // Such as an app transaction id: it names the customer only.
            if facts.originalID == nil, let own = await statuses.own(ofProduct: facts.product) {
                return try await found(own, &statuses, reader)
            }
            if let other = try await statuses.standIn(for: nil, in: facts.group) {
                return .substitute(other, of: nil)
            }
            try statuses.refuseUnread()
            return nil
        }
        guard transaction.isSubscription else { return .oneTime(transaction) }
        hasOtherName = transaction.isFirst(named: facts.originalID)
        if let id = transaction.originalTransactionId,
            let own = try await statuses.own(named: [id])
        {
            return try await found(own, &statuses, reader)
        }
        if let other = try await statuses.standIn(for: transaction, in: facts.group) {
            return .substitute(other, of: transaction)
        }
        try statuses.refuseUnread()
        if let found = alone(transaction, reader) { return found }
        guard !statuses.isEmpty, facts.state != .new else { return nil }
        // An answer about something else says nothing of this one while it is paid. Later, what
        // has stood in for it may have ended.
        let time = reader.time(of: transaction)
        guard time.isProven, let end = facts.expiresAt ?? facts.paidThrough, end <= time.instant
        else { throw .mismatch(what: "purchase") }
        return .unproven
    }

    /// What has become of a purchase whose own subscription is in the answer.
    private mutating func found(
        _ shown: AppleSubscription, _ statuses: inout AppleStatuses, _ reader: AppleReader
    ) async throws(StoreFailure) -> AppleFound {
        let known =
            shown.isUpgraded ? nil : try await knownPeriod(after: shown, &statuses, reader)
        let own = known ?? shown
        if own.isRunning {
            // What somebody has paid is more than grace.
            guard own.isInGrace,
                let other = try await statuses.standIn(for: own.transaction, in: nil),
                !other.isInGrace
            else { return .own(own) }
            return .substitute(other, of: own.transaction)
        }
        if let seats = try await seats(besides: own.transaction, reader) {
            return .seats(seats, of: own)
        }
        if let refund = try await signedRefund(of: own, reader) { return .own(refund) }
        let isContested = try own.reading(in: reader.environment).isContested
        if let other = try await statuses.standIn(for: own.transaction, in: nil) {
            return isContested
                ? .substitute(other, of: own.transaction) : .heir(other, of: own)
        }
        if own.isUpgraded {
            if let successor = try await successor(of: own.transaction, reader) {
                return .own(reader.subscription(1, successor, nil))
            }
            if let known = try await knownPeriod(after: own, &statuses, reader) {
                return .own(known)
            }
        }
        // What it is in force by, or what has replaced it, may be what could not be read.
        if own.isUpgraded || facts.isInForce(besides: own.transaction) {
            try statuses.refuseUnreadRunning(besides: own.transaction)
        }
        if facts.access == .granted, !isContested,
            let copy = await statuses.lostCopy(for: own.transaction, knowing: facts)
        {
            return .lostCopy(copy, of: own)
        }
        if !isContested, facts.wasGranted,
            let heir = try await statuses.followed(by: facts, after: own.transaction)
        {
            if let seats = try await seats(besides: heir.transaction, reader) {
                return .seats(seats, of: heir)
            }
            return .heir(try await signedRefund(of: heir, reader) ?? heir, of: own)
        }
        return .own(own)
    }

    /// What has replaced a transaction in its own subscription: the statuses may show the old one
    /// for hours.
    ///
    /// - Throws: why the history cannot be read: without it nobody knows whether anything has.
    private mutating func successor(
        of own: AppleTransaction, _ reader: AppleReader
    ) async throws(StoreFailure) -> AppleTransaction? {
        guard let group = own.subscriptionGroupIdentifier else { return nil }
        let instant = reader.time(of: own).instant
        return try await search(.group(group), reader) { other in
            other.originalTransactionId == own.originalTransactionId
                && other.isInForce(at: instant)
                && (other.purchaseDate ?? 0) > (own.purchaseDate ?? 0)
        }
    }

    /// The purchase's own transaction, where it was asked for by its id. One that only names the
    /// customer may be of any product: its answer shows no more than where the customer is known.
    private mutating func told(
        by body: [UInt8], _ reader: AppleReader
    ) async throws(StoreFailure) -> AppleTransaction? {
        guard subject.isNamed || facts.originalID != nil else {
            return try await transaction(reader)
        }
        return try await own(reader.transaction(body))
    }

    /// The purchase's own transaction: by its id, else the latest of its product. One that was
    /// taken back is its own only where there is no other.
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
        var takenBack: AppleTransaction?
        let kept = try await search(.product(product), reader) { other in
            guard other.productId == product, other.isTakenBack else {
                return other.productId == product
            }
            takenBack = takenBack ?? other
            return false
        }
        return kept ?? takenBack
    }

    /// - Throws: `.mismatch` when it is not what was asked for.
    private func own(_ transaction: AppleTransaction) throws(StoreFailure) -> AppleTransaction {
        let ids = [
            transaction.transactionId, transaction.originalTransactionId,
            transaction.previousOriginalTransactionId,
        ]
        guard ids.contains(transactionID) else { throw .mismatch(what: "purchase") }
        return transaction
    }

    /// A subscription's transaction of which no status was told: its own signed dates may do. The
    /// end, or the refund, of a period that another has followed says nothing.
    private func alone(_ transaction: AppleTransaction, _ reader: AppleReader) -> AppleFound? {
        guard transaction.isSubscription else { return .oneTime(transaction) }
        let isLatest = facts.orderID ?? transaction.transactionId == transaction.transactionId
        if transaction.isTakenBack, isLatest {
            // Others may pay the same period: without their history nobody knows.
            if transaction.mayPayWithOthers { return nil }
            return .own(reader.subscription(5, transaction, nil))
        }
        guard transaction.isInForce(at: reader.time(of: transaction).instant) else { return nil }
        return .own(reader.subscription(1, transaction, nil))
    }

    static func body(of reply: AppleReply) throws(StoreFailure) -> [UInt8]? {
        switch reply {
        case .answer(let body): return body.bytes
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
            return (body.bytes, reader(first, body.date))
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
            return (body.bytes, reader(first.other, body.date))
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
        case (_, .answer): throw .mismatch(what: StoreFailure.environment)
        case (.notFound, .notFound): return
        case (.unauthorized, .unauthorized): throw refused
        // One of them knows nothing of the app, as before its first release: no answer.
        case (.unauthorized, _), (_, .unauthorized):
            throw .unreachable(reason: "one environment refused the token")
        default: throw rejected
        }
    }

    private func reader(_ environment: StoreEnvironment, _ date: Timestamp?) -> AppleReader {
        AppleReader(
            verifier: verifier, bundleID: bundleID, environment: environment,
            time: AppleTime(now: now, told: date))
    }

    static let refused = StoreFailure.refused(reason: "status 401")
    private static let rejected = StoreFailure.rejected(reason: "not a transaction id")
}

extension AppleTransaction {
    /// Paid, and neither taken back, also not item by item, nor replaced.
    func isInForce(at instant: Timestamp) -> Bool {
        guard !isTakenBack, itemsRevokedAt == nil, isUpgraded != true,
            let end = expiresDate.flatMap({ Timestamp(millisecondsSinceEpoch: $0) })
        else { return false }
        return end > instant
    }
}

extension Facts {
    /// Whether access hangs on another transaction than the one that is shown, or was to go on for
    /// longer than that one lasts: by what stood in for it.
    fileprivate func isInForce(besides own: AppleTransaction) -> Bool {
        guard access != .none else { return false }
        if orderID != nil, orderID != own.transactionId { return true }
        guard let known = expiresAt,
            let end = own.expiresDate.flatMap({ Timestamp(millisecondsSinceEpoch: $0) })
        else { return false }
        return known > end
    }
}

extension AppleTransaction {
    /// Whether it began a subscription of that original id, and Apple gives it another one now: it
    /// may have been changed more than once since it was last looked at.
    fileprivate func isFirst(named known: OrderID?) -> Bool {
        known != nil && transactionId == known && originalTransactionId != known
    }
}
