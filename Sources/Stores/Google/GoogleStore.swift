import Curl
package import Renewal

/// Asks Google Play about purchases of one app.
package final class GoogleStore: Sendable {
    private let packageName: String
    private let host: StoreHost
    private let tokens: GoogleTokens
    private let transport: StoreTransport

    /// - Throws: when the service account's file cannot be used.
    package init(
        credentials: GoogleCredentials, host: StoreHost, transport: StoreTransport
    ) throws(CredentialFault) {
        guard !credentials.packageName.isEmpty else {
            throw CredentialFault(field: "id", sentence: "is empty")
        }
        packageName = credentials.packageName
        self.host = host
        self.transport = transport
        tokens = GoogleTokens(
            try GoogleServiceAccount(json: credentials.serviceAccountJSON),
            certificateAuthorityFile: credentials.certificateAuthorityFile,
            transport: transport)
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
        switch try await reply(about: purchase, at: now) {
        case .answer(let body):
            let wire = try JSON.decode(GoogleSubscription.self, from: body)
            return .verdict(
                try GoogleObservation(wire, facts: purchase.facts, at: now).observation)
        case .gone:
            return .doubt(.gone)
        case .staleToken:
            throw .refused(reason: "status 401")
        case .failed(let failure):
            throw failure
        }
    }

    /// One call; another with a new access token when the first one's is refused.
    private func reply(
        about purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) -> GoogleReply {
        let package = try PathSegment(packageName, what: "package name")
        let token = try PathSegment(purchase.token, what: "token")
        let accessToken = try await tokens.token()
        let request = GoogleRequest.subscription(
            token, of: package, at: host, accessToken: accessToken)
        let reply = GoogleReply(try await transport.response(to: request), at: now)
        guard reply == .staleToken else { return reply }
        let renewed = try await tokens.token(replacing: accessToken)
        await transport.beforeExtraCall()
        let again = GoogleRequest.subscription(
            token, of: package, at: host, accessToken: renewed)
        return GoogleReply(try await transport.response(to: again), at: now)
    }
}
