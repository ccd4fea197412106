import Curl
package import Renewal

/// Asks the App Store about purchases of one app.
package final class AppleStore: Sendable {
    private let bundleID: String
    private let hosts: [StoreEnvironment: StoreHost]
    private let tokens: AppleTokens
    private let verifier: AppleVerifier
    private let transport: StoreTransport

    /// `roots` are the trusted certificates in DER: Apple Root CA - G3 unless others are given.
    /// Fails when the key or a root cannot be used.
    package init(
        credentials: AppleCredentials, production: StoreHost, sandbox: StoreHost,
        roots: [[UInt8]] = [AppleRoots.g3], transport: StoreTransport
    ) throws(CredentialFault) {
        bundleID = credentials.bundleID
        hosts = [.production: production, .sandbox: sandbox]
        tokens = try AppleTokens(credentials)
        verifier = try AppleVerifier(roots: roots)
        self.transport = transport
    }

    /// Asks about one purchase. Every failure is an answer. `now` is the database's time.
    package func ask(_ purchase: Purchase, at now: Timestamp) async -> Answer {
        do throws(StoreFailure) {
            return try await answer(about: purchase, at: now)
        } catch {
            return .failure(error)
        }
    }

    /// A known environment is asked alone; an unknown one is found by asking production first. What
    /// one environment does not know is in doubt only when the other does not know it either.
    private func answer(
        about purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> Answer {
        let subject = try await subject(of: purchase, at: now)
        let first = subject.environment ?? .production
        let reply = try await reply(about: subject.id, from: first, at: now)
        switch reply {
        case .answer(let body):
            return try await read(body, from: first, about: purchase, as: subject.id, at: now)
        case .failed(let failure):
            throw failure
        case .unauthorized where subject.environment != nil:
            throw Self.refused
        case .invalidIdentifier where subject.environment != nil:
            throw Self.rejected
        case .notFound, .unauthorized, .invalidIdentifier:
            break
        }
        await transport.beforeExtraCall()
        let second = try await self.reply(about: subject.id, from: first.other, at: now)
        if case .answer(let body) = second, subject.environment == nil {
            return try await read(
                body, from: first.other, about: purchase, as: subject.id, at: now)
        }
        return try Self.conclusion(of: reply, and: second)
    }

    /// What two environments say together, of which none has given an answer to read.
    private static func conclusion(
        of first: AppleReply, and second: AppleReply
    ) throws(StoreFailure) -> Answer {
        switch (first, second) {
        case (_, .failed(let failure)): throw failure
        case (_, .answer): throw .mismatch(what: "environment")
        case (.notFound, .notFound): return .doubt(.notFound)
        case (.unauthorized, .unauthorized): throw refused
        // One of them knows nothing of the app, as before its first release: no answer.
        case (.unauthorized, _), (_, .unauthorized):
            throw .unreachable(reason: "one environment refused the token")
        default: throw rejected
        }
    }

    private static let refused = StoreFailure.refused(reason: "status 401")
    private static let rejected = StoreFailure.rejected(reason: "not a transaction id")

    private struct Subject {
        let id: String
        let environment: StoreEnvironment?
    }

    private func subject(
        of purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> Subject {
        let known = purchase.facts.environment
        switch try AppleIdentifier(token: purchase.token) {
        case .transaction(let id):
            return Subject(id: id, environment: known)
        case .signed(let text):
            let transaction = try await transaction(in: text, at: now)
            try transaction.check(bundleID: bundleID)
            guard let id = transaction.originalTransactionId ?? transaction.transactionId else {
                throw .rejected(reason: "the signed transaction names no transaction")
            }
            let named = StoreEnvironment.allCases.first {
                $0.appleName == transaction.environment
            }
            return Subject(id: id, environment: known ?? named)
        }
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
            throw .rejected(reason: "the signed transaction does not hold")
        }
    }

    private func reply(
        about id: String, from environment: StoreEnvironment, at now: Timestamp
    ) async throws(StoreFailure) -> AppleReply {
        guard let host = hosts[environment] else {
            throw .unsupported(reason: "this environment is not configured")
        }
        let segment = try PathSegment(id, what: "transaction id")
        let token = try tokens.token(at: transport.wallClock())
        let response = try await transport.response(
            to: AppleRequest.statuses(of: segment, at: host, token: token))
        guard response.status == 401 else { return AppleReply(response, at: now) }
        let renewed = try tokens.token(
            replacing: token, date: response.date, at: transport.wallClock())
        await transport.beforeExtraCall()
        let again = try await transport.response(
            to: AppleRequest.statuses(of: segment, at: host, token: renewed))
        return AppleReply(again, at: now)
    }

    private func read(
        _ body: [UInt8], from environment: StoreEnvironment, about purchase: Purchase,
        as id: String, at now: Timestamp
    ) async throws(StoreFailure) -> Answer {
        let reader = AppleAnswerReader(
            verifier: verifier, bundleID: bundleID, environment: environment, asked: id,
            facts: purchase.facts, now: now)
        return try await reader.answer(body)
    }
}
