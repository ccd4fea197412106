import Configuration
import Engine
import FoundationEssentials
import Renewal
import Stores

extension StoreClientFactory {
    /// One app in the App Store: what is asked, and where its news comes from. Without a key of
    /// the server API there is no news.
    func apple(
        _ app: AppleApp, _ key: AppKey, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> StoreClient {
        let store = try appleStore(app, transport)
        var doors = StoreClient(ask: { await store.ask($0, at: $1) })
        if app.apiKey != nil {
            doors.hintSources.append(
                HintSource(
                    name: "apple \(app.id) notifications", app: key,
                    endpoint: "apple notifications", interval: Self.historyInterval
                ) { position, now throws(StoreFailure) in
                    try await store.hints(after: position, at: now)
                })
            doors.lookUp = { order, now throws(StoreFailure) in
                try await store.lookUp(orderID: order, at: now).flatMap {
                    [$0.originalID, $0.transactionID]
                }
            }
        }
        return doors
    }

    /// Two calls each: one for each environment.
    private static let historyInterval = Duration.seconds(60)

    func appleStore(
        _ app: AppleApp, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> AppleStore {
        var roots = [AppleRoots.g3]
        if let file = settings.apple.rootCertificate {
            roots = [try certificate(try file.read(), file.place)]
        }
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
                roots: roots, readsOffers: settings.readsOffers, transport: transport)
        }
    }

    func secretKey(_ key: AppleKeySource) throws(ConfigurationFault) -> AppleAPIKey {
        AppleAPIKey(
            issuerID: key.issuerID, keyID: key.keyID, privateKeyPEM: try secret(key.privateKey))
    }

    /// A certificate in DER, from DER or PEM.
    func certificate(
        _ bytes: [UInt8], _ place: ConfigurationPlace
    ) throws(ConfigurationFault) -> [UInt8] {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("-----BEGIN CERTIFICATE-----") else { return bytes }
        let body = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-----") }
            .joined()
        guard let der = Data(base64Encoded: body) else {
            throw place.fault("is not a certificate in PEM or DER")
        }
        return Array(der)
    }
}
