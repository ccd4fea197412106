package import Renewal

/// Everything an operator can say, checked whole before anything starts.
///
/// Each key is described by a property of its table's `KeyGroup`, and read by that name;
/// `etc/renewald.toml` lists them. Printing a configuration shows no secret, no URL and no host.
package struct Settings: Sendable, CustomStringConvertible, CustomReflectable {
    package let database: Database
    package let apps: [App]
    package let catalog: Catalog
    /// `[policy]`, and the waiting times of `[safety]`.
    package let policy: Policy
    package let stores: StoreSettings
    package let refunds: TableValues<RefundKeys>
    package let safety: TableValues<SafetyKeys>
    package let engine: TableValues<EngineKeys>
    package let evidence: TableValues<EvidenceKeys>
    package let encryption: TableValues<EncryptionKeys>
    package let metrics: TableValues<MetricsKeys>
    package let log: TableValues<LogKeys>
    /// How many products are configured.
    let productCount: Int
    /// What the file says, key by key, to be compared with a later one. It may hold a password.
    var written: [String: TOMLNode] = [:]

    package struct Database: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
        /// A libpq connection string. It may hold a password: never print it.
        package let url: String

        package var description: String { "(hidden)" }
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    package var description: String {
        "\(apps.count) apps (\(apps.map(\.key).summary)), "
            + "products configured: \(productCount), checks in flight: \(engine.inFlight)"
    }

    package var customMirror: Mirror { Mirror(self, children: ["summary": description]) }
}

extension TableValues<GoogleKeys> {
    /// What Google switches off (Android Publisher release notes of 2025-05-21). Nil otherwise.
    package var warning: String? {
        self.api == .v1
            ? "[store.google] api = \"v1\": Google switches it off on 2027-08-31" : nil
    }
}

/// One app in one store, with where its credentials are kept.
package enum App: Hashable, Sendable {
    case apple(AppleApp)
    case google(GoogleApp)
    case amazon(AmazonApp)

    package var key: AppKey {
        switch self {
        case .apple(let app): AppKey(store: .apple, id: app.id)
        case .google(let app): AppKey(store: .google, id: app.id)
        case .amazon(let app): AppKey(store: .amazon, id: app.id)
        }
    }

    /// Every secret the app needs.
    package var secrets: [SecretSource] {
        switch self {
        case .apple(let app): [app.apiKey?.privateKey, app.sharedSecret].compactMap { $0 }
        case .google(let app): [app.serviceAccount]
        case .amazon(let app): [app.sharedSecret, app.sqsSecretAccessKey].compactMap { $0 }
        }
    }
}

extension App {
    /// Whether its store's notifications are read.
    package var readsNotifications: Bool {
        if case .apple(let app) = self { return app.apiKey != nil }
        return newsSource != nil
    }

    /// Where its store's news is pulled from by whoever asks first: the key that says so, and what
    /// tells it from others.
    var newsSource: (key: String, name: String)? {
        switch self {
        case .apple: nil
        case .google(let app):
            // A bare name is one of the service account's own project.
            app.pubsubSubscription.map { name in
                let account = name.contains("/") ? "" : " of \(app.serviceAccount.form)"
                return ("pubsub_subscription", name + account)
            }
        case .amazon(let app): app.sqsQueue.map { ("sqs_queue", $0) }
        }
    }
}

package typealias AppleApp = TableValues<AppleAppKeys>
package typealias GoogleApp = TableValues<GoogleAppKeys>
package typealias AmazonApp = TableValues<AmazonAppKeys>

/// Admits to the App Store Server API.
package struct AppleKeySource: Hashable, Sendable {
    package let issuerID: String
    package let keyID: String
    /// The In-App Purchase key, PEM (`.p8`).
    package let privateKey: SecretSource
}

extension TableValues<AppleAppKeys> {
    /// Nil where only legacy receipts are asked about: there is a shared secret then.
    package var apiKey: AppleKeySource? {
        guard let issuerID = self.issuerID, let keyID = self.keyID,
            let privateKey = self.privateKey
        else { return nil }
        return AppleKeySource(issuerID: issuerID, keyID: keyID, privateKey: privateKey)
    }
}

/// Where Amazon's notifications are pulled from.
package struct AmazonQueueSource: Hashable, Sendable {
    package let address: String
    /// Nil where it is neither written nor named by the address: that is a fault.
    package let region: String?
    package let accessKeyID: String?
    package let secretAccessKey: SecretSource?
}

extension TableValues<AmazonAppKeys> {
    /// Nil where nothing is pulled.
    package var queue: AmazonQueueSource? {
        guard let address = self.sqsQueue else { return nil }
        return AmazonQueueSource(
            address: address, region: self.sqsRegion ?? Self.region(ofQueue: address),
            accessKeyID: self.sqsAccessKeyID, secretAccessKey: self.sqsSecretAccessKey)
    }

    /// The region in `https://sqs.REGION.amazonaws.com/…`; nil in an address of another form, as
    /// that of an endpoint of one's own.
    private static func region(ofQueue address: String) -> String? {
        let host = address.split(separator: "/").dropFirst().first ?? ""
        let labels = host.split(separator: ".")
        guard labels.count >= 4, labels[0] == "sqs", labels[2] == "amazonaws" else { return nil }
        return String(labels[1])
    }
}

/// Where each store is asked, and how often.
///
/// An origin is `https://host[:port]` without a slash at its end. `http://` is accepted too, for a
/// simulator on the same machine: it is plain, so secrets and answers can be read on the way.
package struct StoreSettings: Hashable, Sendable {
    package let apple: TableValues<AppleKeys>
    package let google: TableValues<GoogleKeys>
    package let amazon: TableValues<AmazonKeys>
    /// Whether the history of each new subscription is read for used offers.
    package let readsOffers: Bool

    /// The most requests a second for each app of the store, all workers together.
    package func requestsPerSecond(_ store: Store) -> Double {
        switch store {
        case .apple: apple.requestsPerSecond
        case .google: google.requestsPerSecond
        case .amazon: amazon.requestsPerSecond
        }
    }

    /// The file of authorities to trust for TLS. Nil for the system's.
    package func tlsCA(_ store: Store) -> InputFile? {
        switch store {
        case .apple: apple.tlsCA
        case .google: google.tlsCA
        case .amazon: amazon.tlsCA
        }
    }
}
