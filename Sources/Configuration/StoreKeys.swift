import Renewal

/// `[store.apple]`.
package struct AppleKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "store.apple", store: .apple, "Where Apple is asked, and how often.")

    package let baseURL = Key(
        "base_url", .origin, default: "https://api.storekit.apple.com", .live,
        "The App Store Server API, production.")
    package let sandboxURL = Key(
        "sandbox_url", .origin, default: "https://api.storekit-sandbox.apple.com", .live,
        "The same, for sandbox purchases.")
    /// Whole, with its path.
    package let verifyReceiptURL = Key(
        "verify_receipt_url", .address, default: "https://buy.itunes.apple.com/verifyReceipt",
        .live,
        "Where legacy receipts are verified, whole.")
    /// Whole, with its path.
    package let sandboxVerifyReceiptURL = Key(
        "sandbox_verify_receipt_url", .address,
        default: "https://sandbox.itunes.apple.com/verifyReceipt", .live,
        "The same, for sandbox receipts.")
    package let rootCertificate = Key(
        "root_certificate", .file, or: "Apple Root CA G3, built in",
        example: "file:/etc/renewald/root.pem", .live,
        "The root that signed answers must lead to, PEM or DER.")
    package let tlsCA = Key<InputFile?>.authorities
    package let requestsPerSecond = Key<Double>.rate(40)
}

/// `[store.google]`.
package struct GoogleKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "store.google", store: .google,
        """
        Where Google is asked, and how often. The token endpoint is the token_uri of the
        service-account file.
        """)

    package let baseURL = Key(
        "base_url", .origin, default: "https://androidpublisher.googleapis.com", .live,
        "The Google Play Developer API.")
    package let pubsubURL = Key(
        "pubsub_url", .origin, default: "https://pubsub.googleapis.com", .live, "Cloud Pub/Sub.")
    package let api = Key(
        "api", .choice, default: GoogleAPI.v2, .live,
        """
        Which version is asked about purchases; v1 is purchases.subscriptions and
        purchases.products, which Google switches off on 2027-08-31.
        """)
    package let acknowledges = Key(
        "acknowledge", .onOff, default: false, .live,
        """
        Whether renewald acknowledges what the app has not. Google refunds a purchase that
        nobody has acknowledged after three days. With off, a day old one is a notice, and
        so is a consumable with on: only the app knows whether it has given what was bought.
        """)
    package let tlsCA = Key<InputFile?>.authorities
    package let requestsPerSecond = Key<Double>.rate(40)
}

/// `[store.amazon]`.
package struct AmazonKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "store.amazon", store: .amazon, "Where Amazon is asked, and how often.")

    package let baseURL = Key(
        "base_url", .origin, default: "https://appstore-sdk.amazon.com", .live,
        "The Receipt Verification Service.")
    package let sandboxURL = Key(
        "sandbox_url", .origin, default: "https://appstore-sdk.amazon.com", .live,
        "The same, for an app with sandbox = true; its path begins with /sandbox.")
    package let tlsCA = Key<InputFile?>.authorities
    package let requestsPerSecond = Key<Double>.rate(8)
}

/// Which version of the Google Play Developer API is asked about purchases.
package enum GoogleAPI: String, Hashable, Sendable, CaseIterable { case v2, v1 }

extension Key where Value == InputFile? {
    fileprivate static var authorities: Key {
        Key(
            "tls_ca", .file, or: "the system's", example: "file:/etc/renewald/ca.pem", .live,
            "The certificate authorities to trust for TLS, PEM.")
    }
}

extension Key where Value == Double {
    fileprivate static func rate(_ standard: Double) -> Key {
        Key(
            "requests_per_second", .number(0.01...100_000), default: standard, .live,
            """
            At most, for each app, all workers of the database together. Leave a share of the
            store's quota to `renewald check`.
            """)
    }
}
