import Configuration
import Engine
import FoundationEssentials
import Renewal
import Stores

struct AppleStoreApp: StoreApp {
    let app: AppleApp

    private var key: AppKey { AppKey(store: .apple, id: app.id) }

    /// Without a key of the server API there is no news.
    func client(
        _ factory: StoreClientFactory, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> StoreClient {
        let store = try factory.appleStore(app, transport)
        var client = StoreClient(ask: { await store.within($2).ask($0, at: $1) })
        client.answer = { await store.within($2).answer($0, at: $1) }
        if app.apiKey != nil {
            client.hintSources.append(
                HintSource(
                    name: "apple \(app.id) notifications", app: key,
                    endpoint: "apple notifications", interval: Self.historyInterval
                ) { position, now, permit throws(StoreFailure) in
                    try await store.within(CallSession(permit)).hints(after: position, at: now)
                })
            client.lookUp = { order, now throws(StoreFailure) in
                try await store.lookUp(orderID: order, at: now).flatMap {
                    [$0.originalID, $0.transactionID]
                }
            }
        }
        return client
    }

    func news(in terms: inout ForecastTerms) -> MissingNews? {
        // The history of a subscription that is new is read for its offers.
        if terms.rules.policy.keepsOffers { terms.callsAtFirstSight = 2 }
        guard app.apiKey != nil else {
            return MissingNews(
                remedy: "give the app a key of the App Store Server API (issuer_id, key_id and "
                    + "private_key)", interval: Self.historyInterval)
        }
        terms.newsOfAll = Self.historyInterval
        return nil
    }

    /// The rest between two looks, of a call for each environment. What Apple asks about
    /// a refund is to be told within a minute.
    static let historyInterval = Duration.seconds(45)

    func look(with check: inout CredentialCheck) {
        if let apiKey = app.apiKey {
            check.look(at: apiKey.privateKey, "apple \(app.id): a P-256 key") {
                factory throws(ConfigurationFault) in
                let key = try factory.secretKey(apiKey)
                try factory.made(apiKey.privateKey.place) { () throws(CredentialFault) in
                    try key.check(bundleID: app.id)
                }
                return key.oddIDs.map { odd in
                    .note(
                        CredentialCheck.subject, "apple \(app.id): \(odd)",
                        do: "compare it with App Store Connect, Users and Access, Integrations, "
                            + "In-App Purchase")
                }
            }
        }
        if let sharedSecret = app.sharedSecret {
            check.look(at: sharedSecret, "apple \(app.id): a shared secret") {
                factory throws(ConfigurationFault) in
                _ = try factory.secret(sharedSecret)
                return []
            }
        }
    }

    func ask(
        with check: StoreCheck, _ transport: StoreTransport, _ tell: (Finding) -> Void
    ) async throws(ConfigurationFault) {
        let store = try check.factory.appleStore(app, transport)
        if app.apiKey != nil {
            tell(
                await check.finding(
                    key, "the App Store Server API accepts the key",
                    "check in App Store Connect, Users and Access, Integrations, In-App Purchase, "
                        + "that the key is not revoked, and that issuer_id, key_id and the "
                        + "bundle id belong to it"
                ) { now throws(StoreFailure) in try await store.probeKey(at: now) })
        }
        if app.sharedSecret != nil {
            tell(
                await check.finding(
                    key,
                    "verifyReceipt answers; only a receipt can show whether the secret is right",
                    "compare shared_secret with App Store Connect, App Information"
                ) { now throws(StoreFailure) in try await store.probeReceipts(at: now) })
        }
    }
}

extension StoreClientFactory {
    fileprivate func appleStore(
        _ app: AppleApp, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> AppleStore {
        let verifier = try verifier()
        let credentials = AppleCredentials(
            bundleID: app.id, apiKey: try app.apiKey.map(secretKey),
            sharedSecret: try app.sharedSecret.map(secret))
        let place = (app.apiKey?.privateKey ?? app.sharedSecret)?.place
        let receipts = [
            StoreEnvironment.production: settings.apple.verifyReceiptURL,
            .sandbox: settings.apple.sandboxVerifyReceiptURL,
        ].compactMapValues { url in
            AppleReceiptEndpoint(
                url: url, certificateAuthorityFile: settings.tlsCA(.apple)?.path)
        }
        return try made(place ?? ConfigurationPlace(file: "", line: nil, key: "app")) {
            () throws(CredentialFault) in
            try AppleStore(
                credentials: credentials, production: try host(settings.apple.baseURL, .apple),
                sandbox: try host(settings.apple.sandboxURL, .apple), receipts: receipts,
                verifier: verifier, readsOffers: settings.readsOffers,
                transport: transport)
        }
    }

    private func verifier() throws(ConfigurationFault) -> AppleVerifier {
        guard let file = settings.apple.rootCertificate else {
            let place = ConfigurationPlace(file: "", line: nil, key: "store.apple.root_certificate")
            return try made(place) { () throws(CredentialFault) in
                try shared.verifier([AppleRoots.g3])
            }
        }
        let bytes = try file.read()
        return try made(file.place) { () throws(CredentialFault) in
            try shared.verifier(CertificateFile(bytes).inDER)
        }
    }

    fileprivate func secretKey(_ key: AppleKeySource) throws(ConfigurationFault) -> AppleAPIKey {
        AppleAPIKey(
            issuerID: key.issuerID, keyID: key.keyID, privateKeyPEM: try secret(key.privateKey))
    }
}
