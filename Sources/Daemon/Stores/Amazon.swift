import Configuration
import Engine
import Renewal
import Stores

struct AmazonStoreApp: StoreApp {
    let app: AmazonApp

    private var key: AppKey { AppKey(store: .amazon, id: app.id) }

    func client(
        _ factory: StoreClientFactory, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> StoreClient {
        let store = try factory.amazonStore(app, transport)
        var client = StoreClient(ask: { await store.within($2).ask($0, at: $1) })
        if let queue = try factory.amazonQueue(app, transport) {
            client.hintSources.append(
                HintSource(notificationsOf: key, every: Self.notificationInterval) {
                    session, now throws(StoreFailure) in
                    try await queue.within(session).pull(at: now)
                } acknowledge: { receipts, session, now throws(StoreFailure) in
                    try await queue.within(session).acknowledge(receipts, at: now)
                })
        }
        return client
    }

    func news(in terms: inout ForecastTerms) -> MissingNews? {
        guard app.queue == nil else {
            terms.newsOfAll = Self.notificationInterval
            return nil
        }
        return MissingNews(
            remedy: "subscribe an SQS queue (sqs_queue)", interval: Self.notificationInterval)
    }

    private static let notificationInterval = Duration.seconds(10)

    func look(with check: inout CredentialCheck) {
        check.look(at: app.sharedSecret, "amazon \(app.id): a shared key") {
            factory throws(ConfigurationFault) in
            let credentials = try factory.credentials(of: app)
            try factory.made(app.sharedSecret.place) { () throws(CredentialFault) in
                try credentials.check()
            }
            return []
        }
        guard let secret = app.sqsSecretAccessKey else { return }
        check.look(at: secret, "amazon \(app.id): the key of an AWS user") {
            factory throws(ConfigurationFault) in
            _ = try factory.secret(secret)
            return []
        }
    }

    func ask(
        with check: StoreCheck, _ transport: StoreTransport, _ tell: (Finding) -> Void
    ) async throws(ConfigurationFault) {
        let store = try check.factory.amazonStore(app, transport)
        tell(
            await check.finding(
                key, "the Receipt Verification Service accepts the key",
                "compare shared_secret with the Amazon Developer Console, Settings, Shared Key"
            ) { now throws(StoreFailure) in try await store.probe(at: now) })
        guard let queue = try check.factory.amazonQueue(app, transport) else { return }
        tell(
            await check.finding(
                key, "the queue of notifications can be looked at",
                "check sqs_queue and the access key, and allow its user sqs:ReceiveMessage, "
                    + "sqs:DeleteMessage and sqs:GetQueueAttributes on the queue"
            ) { now throws(StoreFailure) in try await queue.probe(at: now) })
    }
}

extension StoreClientFactory {
    fileprivate func amazonStore(
        _ app: AmazonApp, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> AmazonStore {
        let credentials = try self.credentials(of: app)
        return try made(app.sharedSecret.place) { () throws(CredentialFault) in
            AmazonStore(
                credentials: credentials, production: try host(settings.amazon.baseURL, .amazon),
                sandbox: try host(settings.amazon.sandboxURL, .amazon), transport: transport)
        }
    }

    /// Nil where none is configured.
    fileprivate func amazonQueue(
        _ app: AmazonApp, _ transport: StoreTransport
    ) throws(ConfigurationFault) -> AmazonQueue? {
        guard let queue = app.queue, let region = queue.region,
            let accessKeyID = queue.accessKeyID, let source = queue.secretAccessKey
        else { return nil }
        let credentials = AWSCredentials(
            accessKeyID: accessKeyID, secretAccessKey: try secret(source), region: region)
        return try made(source.place) { () throws(CredentialFault) in
            try AmazonQueue(
                at: queue.address, certificateAuthorityFile: settings.tlsCA(.amazon)?.path,
                credentials: credentials, of: app.id, transport: transport)
        }
    }

    fileprivate func credentials(of app: AmazonApp) throws(ConfigurationFault) -> AmazonCredentials
    {
        AmazonCredentials(
            appID: app.id, sharedSecret: try secret(app.sharedSecret),
            allowsSandbox: app.sandbox)
    }
}
