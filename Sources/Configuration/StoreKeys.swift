import Renewal

extension ConfigurationSection {
    /// `[store.apple]`, `[store.google]`, `[store.amazon]`.
    static let stores = [apple, google, amazon]

    static let apple = ConfigurationSection(
        "store.apple", store: .apple, "Where Apple is asked, and how often.",
        [
            origin(
                "base_url", "https://api.storekit.apple.com",
                "The App Store Server API, production."),
            origin(
                "sandbox_url", "https://api.storekit-sandbox.apple.com",
                "The same, for sandbox purchases."),
            address(
                "verify_receipt_url", "https://buy.itunes.apple.com/verifyReceipt",
                "Where legacy receipts are verified, whole."),
            address(
                "sandbox_verify_receipt_url", "https://sandbox.itunes.apple.com/verifyReceipt",
                "The same, for sandbox receipts."),
            ConfigurationKey(
                "root_certificate", .file,
                .optional(
                    meaning: "Apple Root CA G3, built in",
                    example: .string("file:/etc/renewald/root.pem")),
                "The root that signed answers must lead to, PEM or DER."),
            authorities, rate(40),
        ])

    static let google = ConfigurationSection(
        "store.google", store: .google,
        """
        Where Google is asked, and how often. The token endpoint is the token_uri of the
        service-account file.
        """,
        [
            origin(
                "base_url", "https://androidpublisher.googleapis.com",
                "The Google Play Developer API."),
            origin("pubsub_url", "https://pubsub.googleapis.com", "Cloud Pub/Sub."),
            ConfigurationKey(
                "api", .choice(GoogleSettings.API.allCases.map(\.rawValue)),
                .byDefault(.string(GoogleSettings.API.v2.rawValue)),
                """
                Which version is asked about purchases; v1 is purchases.subscriptions and
                purchases.products.
                """),
            ConfigurationKey(
                "acknowledge", .onOff, .byDefault(.string("off")),
                """
                Whether renewald acknowledges what the app has not. Google refunds a purchase that
                nobody has acknowledged after three days. With off, a day old one is a notice, and
                so is a consumable with on: only the app knows whether it has given what was bought.
                """),
            authorities, rate(40),
        ])

    static let amazon = ConfigurationSection(
        "store.amazon", store: .amazon, "Where Amazon is asked, and how often.",
        [
            origin(
                "base_url", "https://appstore-sdk.amazon.com", "The Receipt Verification Service."),
            origin(
                "sandbox_url", "https://appstore-sdk.amazon.com",
                "The same, for an app with sandbox = true; its path begins with /sandbox."
            ),
            authorities, rate(8),
        ])

    private static let authorities = ConfigurationKey(
        "tls_ca", .file,
        .optional(meaning: "the system's", example: .string("file:/etc/renewald/ca.pem")),
        "The certificate authorities to trust for TLS, PEM.")

    private static func rate(_ standard: Int) -> ConfigurationKey {
        ConfigurationKey(
            "requests_per_second", .number(0.01...100_000), .byDefault(.integer(standard)),
            """
            At most, for each app, all workers of the database together. Leave a share of the
            store's quota to `renewald check`.
            """)
    }

    private static func origin(
        _ name: String, _ standard: String, _ sentence: String
    ) -> ConfigurationKey {
        ConfigurationKey(name, .origin, .byDefault(.string(standard)), sentence)
    }

    private static func address(
        _ name: String, _ standard: String, _ sentence: String
    ) -> ConfigurationKey {
        ConfigurationKey(name, .address, .byDefault(.string(standard)), sentence)
    }
}
