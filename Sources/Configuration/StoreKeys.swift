import Renewal

/// `[store.apple]`.
package struct AppleKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "store.apple", store: .apple, "The addresses of Apple's APIs, and the rate of calls.")

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
        "verifyReceipt for legacy receipts: the whole address, with its path.")
    /// Whole, with its path.
    package let sandboxVerifyReceiptURL = Key(
        "sandbox_verify_receipt_url", .address,
        default: "https://sandbox.itunes.apple.com/verifyReceipt", .live,
        "The same, for sandbox receipts.")
    package let rootCertificate = Key(
        "root_certificate", .file, or: "Apple Root CA G3, built in",
        example: "file:/etc/renewald/root.pem", .live,
        "The root certificate that Apple's signatures must chain to, PEM or DER.")
    package let tlsCA = Key<InputFile?>.authorities
    package let requestsPerSecond = Key<Double>.rate(40)
}

/// `[store.google]`.
package struct GoogleKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "store.google", store: .google,
        """
        The addresses of Google's APIs, and the rate of calls. The token endpoint is the
        token_uri of the service-account file.
        """)

    package let baseURL = Key(
        "base_url", .origin, default: "https://androidpublisher.googleapis.com", .live,
        "The Google Play Developer API.")
    package let pubsubURL = Key(
        "pubsub_url", .origin, default: "https://pubsub.googleapis.com", .live, "Cloud Pub/Sub.")
    package let api = Key(
        "api", .choice, default: GoogleAPIVersion.v2, .live,
        """
        The version of the API to ask about purchases; v1 is purchases.subscriptions and
        purchases.products, which Google switches off on 2027-08-31.
        """)
    package let acknowledges = Key(
        "acknowledge", .onOff, default: false, .live,
        """
        Whether renewald acknowledges purchases that the app has not. Google refunds a
        purchase that nobody acknowledges within three days. renewald leaves consumables
        alone: only the app knows whether it has delivered them. A purchase that is still
        unacknowledged after a day becomes a notice.
        """)
    package let tlsCA = Key<InputFile?>.authorities
    package let requestsPerSecond = Key<Double>.rate(40)
}

/// `[store.amazon]`.
package struct AmazonKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "store.amazon", store: .amazon, "The addresses of Amazon's service, and the rate of calls.")

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
package enum GoogleAPIVersion: String, Hashable, Sendable, CaseIterable { case v2, v1 }

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
            The most calls a second for each app, by all workers and commands together. Set it
            lower when other programs use the same quota.
            """)
    }
}
