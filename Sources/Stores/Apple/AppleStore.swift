import Curl
package import Renewal

/// Asks the App Store about purchases of one app.
package struct AppleStore: Sendable {
    private let bundleID: AppID
    private let verifier: AppleVerifier
    /// Nil without a key: only receipts can be asked about then.
    private(set) var api: AppleAPI?
    /// Nil without a shared secret.
    private(set) var verifyReceipt: AppleVerifyReceipt?
    private let readsOffers: Bool

    /// - Parameters:
    ///   - credentials: a key, a shared secret, or both.
    ///   - production: where the App Store Server API is.
    ///   - sandbox: the same, for sandbox purchases.
    ///   - receipts: where verifyReceipt is, for each environment.
    ///   - verifier: knows whose signatures are believed.
    ///   - readsOffers: whether the history of a new subscription is read for used offers.
    ///   - transport: what the store needs of the world.
    /// - Throws: when there are no credentials, or a key cannot be used.
    package init(
        credentials: AppleCredentials, production: StoreHost, sandbox: StoreHost,
        receipts: [StoreEnvironment: AppleReceiptEndpoint] = [:],
        verifier: AppleVerifier, readsOffers: Bool = false, transport: StoreTransport
    ) throws(CredentialFault) {
        bundleID = credentials.bundleID
        self.verifier = verifier
        self.readsOffers = readsOffers
        guard credentials.apiKey != nil || credentials.sharedSecret != nil else {
            throw CredentialFault(
                field: "private_key", sentence: "is missing, and so is shared_secret")
        }
        var api: AppleAPI?
        if let key = credentials.apiKey {
            api = AppleAPI(
                hosts: [.production: production, .sandbox: sandbox],
                tokens: try AppleTokens(key, bundleID: credentials.bundleID),
                transport: transport)
        }
        self.api = api
        verifyReceipt = credentials.sharedSecret.map { secret in
            AppleVerifyReceipt(
                bundleID: credentials.bundleID, secret: secret, endpoints: receipts,
                transport: transport)
        }
    }

    /// The same, for one piece of work.
    package func within(_ session: CallSession) -> AppleStore {
        var store = self
        store.api?.transport.session = session
        store.verifyReceipt?.transport.session = session
        return store
    }

    /// Asks about one purchase. Every failure is an answer. `now` is the database's time.
    package func ask(_ purchase: Purchase, at now: Timestamp) async -> Answer {
        do throws(StoreFailure) {
            return try await answer(about: purchase.judged, at: now)
        } catch {
            return .failure(error)
        }
    }

    /// Pulls the next page of Apple's notification history, of each environment.
    ///
    /// - Parameters:
    ///   - position: what the last page gave; nil begins at the present.
    ///   - now: the database's time.
    /// - Returns: one hint for each notification that may matter, by the original id.
    /// - Throws: when no environment could be read; the position stays good.
    package func hints(
        after position: String?, at now: Timestamp
    ) async throws(StoreFailure) -> HintPage {
        guard let api else { throw Self.needsKey }
        return try await AppleNotificationHistory(
            verifier: verifier, bundleID: bundleID, api: api, now: now
        ).pull(after: position)
    }

    /// Finds the transactions of an order id, such as `MK5TTTVWJH`, for support. Production only:
    /// the sandbox has no orders.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/look-up-order-id>
    ///
    /// - Parameters:
    ///   - orderID: what the customer's receipt by mail says.
    ///   - now: the database's time.
    /// - Returns: verified; empty when the order is not known.
    /// - Throws: whatever is no answer.
    package func lookUp(
        orderID: OrderID, at now: Timestamp
    ) async throws(StoreFailure) -> [AppleOrderItem] {
        guard let api else { throw Self.needsKey }
        var calls = AppleCalls(api, at: now, isFirst: false)
        switch try await calls.reply(to: .order(orderID), from: .production) {
        case .answer(let body):
            return try await AppleReader(
                verifier: verifier, bundleID: bundleID, environment: .production,
                time: AppleTime(now: now, told: body.date)
            ).order(body.bytes)
        case .notFound, .invalidIdentifier: return []
        case .unauthorized: throw .refused(reason: "status 401")
        case .failed(let failure): throw failure
        }
    }

    static let needsKey = StoreFailure.unsupported(
        reason: "needs a key of the App Store Server API")
}

// Which of Apple's two services is asked, and with what.
extension AppleStore {
    private func answer(
        about purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> Answer {
        switch try AppleIdentifier(token: purchase.token) {
        case .transaction(let id):
            let subject = AppleSubject(id: id, environment: purchase.facts.environment)
            return try await answer(about: subject, purchase, at: now)
        case .signed(let text):
            let subject = try await subject(signed: text, purchase.facts, at: now)
            return try await answer(about: subject, purchase, at: now)
        case .receipt(let file):
            return try await answer(about: file, purchase, at: now)
        }
    }

    private func answer(
        about subject: AppleSubject, _ purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> Answer {
        guard let api else { throw Self.needsKey }
        let options = AppleEnquiry.Options(
            readsOffers: readsOffers, heardRefunds: purchase.clues.refundedOrders,
            checkedAt: purchase.checkedAt, mayBeAhead: purchase.mayBeAhead(at: now))
        var enquiry = AppleEnquiry(
            about: subject, of: customer(api.transport, of: purchase), facts: purchase.facts,
            bundleID: bundleID, verifier: verifier, calls: AppleCalls(api, at: now),
            options: options, at: now)
        return try await enquiry.answer()
    }

    private func customer(_ transport: StoreTransport, of purchase: Purchase) -> AppleCustomer {
        AppleCustomer(userID: purchase.userID, session: transport.session)
    }

    private func subject(
        signed text: String, _ facts: Facts, at now: Timestamp
    ) async throws(StoreFailure) -> AppleSubject {
        guard api != nil else { throw Self.needsKey }
        let transaction = try await transaction(in: text, at: now)
        try transaction.check(bundleID: bundleID)
        guard let id = transaction.originalTransactionId ?? transaction.transactionId else {
            throw .rejected(reason: "the signed transaction names no transaction")
        }
        let named = StoreEnvironment.allCases.first { $0.appleName == transaction.environment }
        return AppleSubject(
            id: id, environment: facts.environment ?? named,
            isOneTime: transaction.type != nil && !transaction.isSubscription)
    }

    /// Whoever handed in the token may have made it up, so that it does not hold says nothing of
    /// Apple or of this app.
    private func transaction(
        in text: String, at now: Timestamp
    ) async throws(StoreFailure) -> AppleTransaction {
        do throws(StoreFailure) {
            return try await verifier.read(
                AppleTransaction.self, from: text, calling: "token", at: now)
        } catch {
            throw .rejected(reason: "the signed transaction's signature is not valid")
        }
    }

    /// A receipt that names a transaction is asked about by it; verifyReceipt is asked only where
    /// it names none, or where there is no key.
    private func answer(
        about file: AppleReceiptFile, _ purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> Answer {
        let facts = purchase.facts
        let receipt = try? AppleReceipt(file)
        if let app = receipt?.bundleID, app != bundleID { throw .mismatch(what: "app") }
        if api != nil, let subject = receipt.flatMap({ subject(of: $0, facts) }) {
            return try await answer(about: subject, purchase, at: now)
        }
        guard let verifyReceipt else {
            // Says what is wrong with it, where something is.
            _ = try AppleReceipt(file)
            guard api != nil else { throw Self.needsKey }
            throw .rejected(reason: "the receipt holds no purchase")
        }
        let answer = try await verifyReceipt.answer(
            about: file, saying: receipt, purchase,
            of: customer(verifyReceipt.transport, of: purchase), at: now)
        guard api != nil, case .verdict(var observation) = answer,
            let id = observation.originalID, AppleIdentifier.isUsable(id)
        else { return answer }
        observation.nextToken = StoreToken(id.text)
        observation.isMigrated = true
        return .verdict(observation)
    }

    private func subject(of receipt: AppleReceipt, _ facts: Facts) -> AppleSubject? {
        let own = receipt.newest(of: facts.product)
        guard let purchase = own ?? receipt.newest, let id = purchase.id else { return nil }
        return AppleSubject(
            id: id, environment: facts.environment, likely: receipt.environment ?? .production,
            isNamed: own != nil, isOneTime: own?.kind.map { $0 != .autoRenewable } ?? false,
            isMigrated: true)
    }
}
