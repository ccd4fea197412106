import Curl
package import Renewal

/// Asks Google Play about purchases of one app.
package struct GoogleStore: Sendable {
    let paths: GooglePaths
    private(set) var client: GoogleClient
    private let api: GoogleAPI
    private let kindOf: @Sendable (ProductID) -> ProductKind?

    /// - Parameters:
    ///   - credentials: of the app.
    ///   - host: where the Google Play Developer API is.
    ///   - transport: what it needs of the world.
    ///   - api: which version is asked about purchases.
    ///   - kindOf: the configured kind of a product, nil where it is not configured. It decides
    ///     whether a token is asked about as a subscription or as a product that is sold once.
    /// - Throws: when the app's id is no package name.
    package init(
        credentials: GoogleCredentials, host: StoreHost, transport: StoreTransport,
        api: GoogleAPI = .v2, kindOf: @escaping @Sendable (ProductID) -> ProductKind? = { _ in nil }
    ) throws(CredentialFault) {
        do throws(StoreFailure) {
            paths = try GooglePaths(packageName: credentials.packageName)
        } catch {
            throw CredentialFault(field: "id", sentence: "is not a package name")
        }
        let tokens = GoogleTokens(
            credentials.account,
            scope: GoogleTokenRequest.publisherScope,
            certificateAuthorityFile: credentials.certificateAuthorityFile, transport: transport)
        client = GoogleClient(host: host, tokens: tokens, transport: transport)
        self.api = api
        self.kindOf = kindOf
    }

    /// The same, for one piece of work.
    package func within(_ session: CallSession) -> GoogleStore {
        var store = self
        store.client.transport.session = session
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

    private func answer(
        about purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> Answer {
        let (question, reply, moment) = try await heard(about: purchase, at: now)
        switch reply {
        case .answer(let body):
            var reading = try reading(body, of: purchase, question, at: moment)
            if question == .legacySubscription, purchase.isBack(by: reading.observation) {
                reading = try await wholeReading(of: purchase, at: now) ?? reading
            }
            var observation = reading.observation
            let isTest = observation.environment == .sandbox
            guard !purchase.facts.isOtherEnvironment(isTest: isTest) else {
                return .verdict(observation)
            }
            let whose = try await whose(reading, of: purchase, at: now)
            try await requireCurrent(
                &observation, of: purchase, with: &reading.orders, at: now)
            await noteRefunds(of: purchase, with: reading.orders, in: &observation, at: now)
            await notePause(of: purchase, asking: question, in: &observation, at: now)
            switch whose {
            case .itsOwn where reading.isOfUnknownState:
                return observation.asSubstitute()
            case .itsOwn:
                return reading.isContested ? observation.asContested() : .verdict(observation)
            case .perhapsIts: return observation.asContested()
            case .standingIn where observation.isInForce:
                // It does not show that anything was paid.
                observation.paidThrough = nil
                return observation.asSubstitute()
            case .standingIn: return observation.asContested()
            }
        case .gone: return .doubt(.gone)
        case .staleToken: throw .refused(reason: "status 401")
        case .failed(let failure): throw failure
        }
    }

    /// Asks until one of the questions is not turned down. What each of them turns down is turned
    /// down in the words of the first.
    private func heard(
        about purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> (GoogleQuestion, GoogleReply, Moment) {
        var first: StoreFailure?
        for question in questions(about: purchase) {
            if first != nil { await client.transport.beforeExtraCall() }
            let (reply, moment) = try await client.dated(
                try paths.purchase(question, purchase), calling: question.callName, at: now)
            guard case .failed(let failure) = reply, case .rejected = failure else {
                return (question, reply, moment)
            }
            first = first ?? failure
        }
        throw first ?? .unsupported(reason: "nothing can be asked about it")
    }

    /// What may be asked about it. Version 1 turns the token of a subscription down that is now
    /// another product's, as after a change of plan at the end of a period, and version 2 asks
    /// without a product. What version 2 has shown to be of several products is always asked there:
    /// version 1 tells of one. Of a kind that neither the configuration nor an answer has told, it
    /// may be sold once as well.
    private func questions(about purchase: Purchase) -> [GoogleQuestion] {
        let isOfSeveral = Set(purchase.facts.holdings.map(\.product)).count > 1
        let api = isOfSeveral ? .v2 : self.api
        let asked = GoogleQuestion(about: kind(of: purchase) ?? .autoRenewable, with: api)
        var questions = [asked]
        if asked == .legacySubscription { questions.append(.subscription) }
        if kind(of: purchase) == nil {
            questions.append(GoogleQuestion(about: .nonConsumable, with: api))
        }
        return questions
    }

    /// As it is configured, or as an answer has told; nil where neither is so.
    func kind(of purchase: Purchase) -> ProductKind? {
        kindOf(purchase.facts.product) ?? purchase.facts.kind
    }

    /// What an answer comes to, before it is known whose it is.
    private struct Reading {
        var observation: Observation
        var proof: GoogleProof
        var isContested = false
        /// A period that runs gives access, whatever the state may mean.
        var isOfUnknownState = false
        var orders = GoogleItemOrders()
    }

    /// What version 2 says of what gave nothing and is back. It may have been of several products,
    /// of which version 1 tells one.
    ///
    /// - Returns: nil where version 2 has no answer, or a copy from before it was back.
    private func wholeReading(
        of purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> Reading? {
        await client.transport.beforeExtraCall()
        do throws(StoreFailure) {
            let question = GoogleQuestion.subscription
            let (reply, moment) = try await client.dated(
                try paths.purchase(question, purchase), calling: question.callName, at: now)
            guard case .answer(let body) = reply else { return nil }
            let whole = try reading(body, of: purchase, question, at: moment)
            return whole.observation.isInForce ? whole : nil
        } catch {
            if case .throttled = error { throw error }
            return nil
        }
    }

    private enum Whose {
        case itsOwn, perhapsIts, standingIn
    }

    /// - Throws: `.mismatch` for an answer about another purchase.
    private func whose(
        _ reading: Reading, of purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> Whose {
        let takesAway = purchase.facts.access != .none && !reading.observation.isInForce
        switch reading.proof {
        case .given: return .itsOwn
        case .by(let order):
            try await prove(order, isOf: purchase, at: now)
            return .itsOwn
        case .unless(let order):
            guard takesAway else { return .itsOwn }
            guard let order else {
                return reading.observation.endsAtItsKnownEnd(of: purchase.facts)
                    ? .itsOwn : .perhapsIts
            }
            do throws(StoreFailure) {
                try await prove(order, isOf: purchase, at: now)
                return .itsOwn
            } catch .mismatch {
                return .perhapsIts
            }
        case .none:
            let isCollectedFor = [.hold, .paused].contains(purchase.facts.state)
            return takesAway || isCollectedFor || reading.observation.isInForce
                ? .standingIn : .itsOwn
        }
    }

    private func reading(
        _ body: [UInt8], of purchase: Purchase, _ question: GoogleQuestion, at moment: Moment
    ) throws(StoreFailure) -> Reading {
        let (facts, now) = (purchase.facts, moment.now)
        switch question {
        case .subscription, .legacySubscription:
            let snapshot =
                question == .subscription
                ? try GoogleSubscription(body, at: now).snapshot
                : try JSON.decode(GoogleLegacySubscription.self, from: body)
                    .snapshot(
                        of: facts, knowing: purchase.clues, at: now, provenUpTo: moment.proven)
            let read = try GoogleObservation(
                snapshot, facts: facts, clues: purchase.clues, at: moment)
            return Reading(
                observation: read.observation, proof: read.proof, isContested: read.isContested,
                isOfUnknownState: snapshot.state == .unknown, orders: read.itemOrders)
        case .product, .legacyProduct:
            let sale =
                question == .product
                ? try JSON.decode(GoogleProduct.self, from: body)
                    .sale(at: now, provenUpTo: moment.proven)
                : try JSON.decode(GoogleLegacyProduct.self, from: body).sale(of: purchase, at: now)
            let read = try GoogleOneTimeObservation(
                sale: sale, facts: facts, kind: kind(of: purchase) ?? sale.likelyKind,
                clues: purchase.clues, at: now)
            var orders = GoogleItemOrders()
            orders.returning = read.returning
            return Reading(observation: read.observation, proof: read.proof, orders: orders)
        }
    }
}

extension Purchase {
    fileprivate func isBack(by observation: Observation) -> Bool {
        facts.access == .none && facts.wasGranted && observation.isInForce
    }
}
