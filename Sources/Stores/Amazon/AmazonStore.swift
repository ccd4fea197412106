import Curl
package import Renewal

/// Asks the Amazon Appstore about purchases of one app.
package struct AmazonStore: Sendable {
    let credentials: AmazonCredentials
    let production: StoreHost
    private let sandbox: StoreHost?
    private(set) var transport: StoreTransport

    /// Without a sandbox, testers' receipts are not asked about.
    package init(
        credentials: AmazonCredentials, production: StoreHost, sandbox: StoreHost?,
        transport: StoreTransport
    ) {
        self.credentials = credentials
        self.production = production
        self.sandbox = sandbox
        self.transport = transport
    }

    /// The same, for one piece of work.
    package func within(_ session: CallSession) -> AmazonStore {
        var store = self
        store.transport.session = session
        return store
    }

    /// Asks about one purchase. Every failure is an answer. `now` is the database's time.
    package func ask(_ purchase: Purchase, at now: Timestamp) async -> Answer {
        do throws(StoreFailure) {
            return try await answer(about: purchase, at: now)
        } catch {
            return .failure(error)
        }
    }

    private func answer(
        about purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> Answer {
        var hosts = hosts(for: purchase)
        let first = hosts.removeFirst()
        let asked = try AmazonIdentifier(purchase)
        let reply = try await reply(about: asked, from: first, at: now)
        guard reply.reply == .unknownReceipt, let second = hosts.first else {
            return try await answer(reply, from: first, about: purchase, at: now)
        }
        await transport.beforeExtraCall()
        let other = try await self.reply(about: asked, from: second, at: now)
        return try await answer(other, from: second, about: purchase, at: now)
    }

    /// Where a purchase may be known, the likelier place first. What is not known yet, and testers'
    /// receipts, can be in both: Live App Testing sells at the production address, whose receipt
    /// ids have colons, App Tester in the sandbox.
    private func hosts(for purchase: Purchase) -> [StoreEnvironment] {
        guard credentials.allowsSandbox, sandbox != nil else { return [.production] }
        return switch purchase.facts.environment {
        case .production: [.production]
        case .sandbox where !purchase.token.text.contains(":"): [.sandbox, .production]
        case .sandbox, nil: [.production, .sandbox]
        }
    }

    func reply(
        about asked: AmazonIdentifier, from environment: StoreEnvironment, at now: Timestamp
    ) async throws(StoreFailure) -> (reply: AmazonReply, proven: Timestamp) {
        let request = try AmazonRequest.verification(
            of: asked, in: environment, at: try host(environment),
            secret: credentials.sharedSecret)
        let response = try await transport.response(
            to: request, calling: "verifyReceiptId, \(environment.rawValue)")
        return (AmazonReply(response, at: now), response.proven(at: now))
    }

    private func host(_ environment: StoreEnvironment) throws(StoreFailure) -> StoreHost {
        switch environment {
        case .production: return production
        case .sandbox:
            guard let sandbox else {
                throw .unsupported(reason: "the sandbox is not configured for this app")
            }
            return sandbox
        }
    }

    private func answer(
        _ heard: (reply: AmazonReply, proven: Timestamp), from environment: StoreEnvironment,
        about purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> Answer {
        switch heard.reply {
        case .answer(let body):
            let receipt = try AmazonReceipt(body)
            var observation = try AmazonObservation(
                receipt, asked: purchase.token, from: environment, facts: purchase.facts,
                at: now, provenUpTo: heard.proven
            ).observation
            var lacksReason = receipt.lacksReason
            if observation.givesAccess, !receipt.baseReceipts.isEmpty {
                let bases = try await bases(of: receipt, for: purchase, in: environment, at: now)
                // What is paid anew shows by itself that the base runs.
                if let failure = bases.failure, purchase.facts.hasEnded,
                    !observation.isPaidAnew(since: purchase.facts)
                {
                    throw failure
                }
                lacksReason = observation.end(with: bases)
            }
            if !observation.givesAccess || receipt.cancelDate != nil {
                observation.settledClues = purchase.clues
            }
            guard receipt.isOfKnownType else {
                guard observation.givesAccess else { throw .malformed(field: "productType") }
                return observation.asSubstitute()
            }
            return lacksReason && observation.cutsShort(purchase.facts)
                ? observation.asContested() : .verdict(observation)
        case .gone: return .doubt(.noLongerValid)
        case .unknownReceipt:
            throw .rejected(
                reason: "status 400, the receipt is not known; tokens of the Billing "
                    + "Compatibility SDK are not supported")
        case .failed(let failure): throw failure
        }
    }
}

extension AmazonReceipt {
    /// Amazon fills in some hours later why it has cut a term short: it may have been replaced.
    var lacksReason: Bool { cancelReason == 0 }
}

extension Observation {
    /// Whether what was paid for longer is over. An end at the end of its term is no surprise.
    fileprivate func cutsShort(_ facts: Facts) -> Bool {
        guard kind == .autoRenewable, facts.access == .granted, facts.state != .refunded else {
            return false
        }
        switch status {
        case .refunded: return true
        case .ended(_, let end?): return facts.paidThrough.map { end < $0 - .days(1) } ?? false
        case .ended(_, nil), .pending, .active, .grace, .hold, .paused, .removedFromFamily,
            .replaced:
            return false
        }
    }
}
