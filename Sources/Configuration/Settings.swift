package import Renewal

/// Everything an operator can say, checked whole before anything starts.
///
/// Keys, defaults and ranges are described in `ConfigurationSection.all`; `etc/renewald.toml` lists
/// them. Printing a configuration shows no secret, no URL and no host.
package struct Settings: Sendable, CustomStringConvertible, CustomReflectable {
    package let database: Database
    package let apps: [App]
    package let catalog: Catalog
    package let policy: Policy
    /// Whether `renewald.offers` is kept.
    package let keepsOffers: Bool
    package let stores: StoreSettings
    package let safety: Safety
    package let engine: Engine
    package let evidence: Evidence
    package let metrics: Metrics
    /// How the log names users.
    package let userNames: UserNames
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

    package struct Safety: Hashable, Sendable {
        /// Whether an avalanche of revocations is to be held, which nothing does yet. The waiting
        /// times are in `Policy`.
        package let holdsAvalanches: Bool

        /// What is promised and not kept. Nil when nothing is.
        package var warning: String? {
            holdsAvalanches
                ? "[safety] breaker = \"on\" has no effect yet: no avalanche of revocations is held"
                : nil
        }
    }

    package struct Engine: Hashable, Sendable {
        /// Checks under way at once.
        package let inFlight: Int
        /// How often idle shards are looked at.
        package let poll: Duration
        /// Whether LISTEN and NOTIFY are used.
        package let notify: Bool
        /// How long a silent worker keeps its shards.
        package let lease: Duration
        /// Checks committed together, at most.
        package let batch: Int
        /// How long a finished check waits for others to be committed with.
        package let batchAge: Duration
        /// How long a stop lets the checks in hand finish.
        package let stopLimit: Duration
    }

    package struct Evidence: Hashable, Sendable {
        /// How long it is kept; zero keeps nothing.
        package let keep: Duration
        /// Whether answers are kept whole.
        package let keepsRaw: Bool
    }

    package struct Metrics: Hashable, Sendable {
        /// Where the figures are served. Nil for nowhere.
        package let listen: ListenAddress?
    }

    package var description: String {
        "\(apps.count) apps (\(apps.map(\.key).summary)), "
            + "products configured: \(productCount), checks in flight: \(engine.inFlight)"
    }

    package var customMirror: Mirror { Mirror(self, children: ["summary": description]) }
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
        case .amazon(let app): [app.sharedSecret]
        }
    }
}

package struct AppleApp: Hashable, Sendable {
    /// The bundle id.
    package let id: AppID
    /// Nil where only legacy receipts are asked about: there is a shared secret then.
    package let apiKey: APIKey?
    /// Only for legacy receipts.
    package let sharedSecret: SecretSource?

    /// Admits to the App Store Server API.
    package struct APIKey: Hashable, Sendable {
        package let issuerID: String
        package let keyID: String
        /// The In-App Purchase key, PEM (`.p8`).
        package let privateKey: SecretSource
    }
}

package struct GoogleApp: Hashable, Sendable {
    /// The package name.
    package let id: AppID
    /// The service account's key file, JSON.
    package let serviceAccount: SecretSource
    /// The Pub/Sub subscription of the developer notifications. Nil where none is pulled.
    package let pubsubSubscription: String?
}

package struct AmazonApp: Hashable, Sendable {
    /// The package name.
    package let id: AppID
    package let sharedSecret: SecretSource
    /// Whether the app's receipts come from the Cloud Sandbox.
    package let sandbox: Bool
}

/// Where each store is asked, and how often.
///
/// An origin is `https://host[:port]` without a slash at its end. `http://` is accepted too, for a
/// simulator on the same machine: it is plain, so secrets and answers can be read on the way.
package struct StoreSettings: Hashable, Sendable {
    package let apple: AppleSettings
    package let google: GoogleSettings
    package let amazon: AmazonSettings

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

package struct AppleSettings: Hashable, Sendable {
    package let baseURL: String
    package let sandboxURL: String
    /// Whole, with its path.
    package let verifyReceiptURL: String
    /// Whole, with its path.
    package let sandboxVerifyReceiptURL: String
    /// PEM or DER. Nil for Apple Root CA G3, which is built in.
    package let rootCertificate: InputFile?
    /// Whether the history of each new subscription is read for used offers.
    package let readsOffers: Bool
    package let tlsCA: InputFile?
    package let requestsPerSecond: Double
}

package struct GoogleSettings: Hashable, Sendable {
    /// Which version is asked about subscriptions.
    package enum API: String, Hashable, Sendable, CaseIterable { case v2, v1 }

    package let baseURL: String
    package let pubsubURL: String
    package let api: API
    /// Whether purchases that nobody has acknowledged are.
    package let acknowledges: Bool
    package let tlsCA: InputFile?
    package let requestsPerSecond: Double
}

package struct AmazonSettings: Hashable, Sendable {
    package let baseURL: String
    /// Asked only for an app with `sandbox`.
    package let sandboxURL: String
    package let tlsCA: InputFile?
    package let requestsPerSecond: Double
}
