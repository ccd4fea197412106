package import Renewal

/// `[[app]]` in the Apple App Store.
package struct AppleAppKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "app", repeats: true, store: .apple, "An app in the Apple App Store.")

    package let store = Key<Store>.ofApp(.apple)
    package let id = Key<AppID>.ofApp
    let issuerID = Key(
        "issuer_id", .text, or: keyPart, example: "57246542-96fe-1a63-e053-0824d011072a", .live,
        "From App Store Connect, Users and Access, Integrations, In-App Purchase.")
    let keyID = Key(
        "key_id", .text, or: keyPart, example: "2X9R4HXF34", .live,
        "The id of the In-App Purchase key.")
    let privateKey = Key(
        "private_key", .secret, or: keyPart, example: "credential:apple.p8", .live,
        "That key, as downloaded (.p8).")
    package let sharedSecret = Key(
        "shared_secret", .secret, or: "none", example: "credential:apple-shared-secret", .live,
        """
        The app's shared secret. Only legacy receipts need it: those that hold no
        transaction id, or all of them when no private_key is set.
        """)

    private static let keyPart = "none, with a shared_secret only; required otherwise"
}

/// `[[app]]` in Google Play.
package struct GoogleAppKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "app", repeats: true, store: .google, "An app in Google Play.")

    package let store = Key<Store>.ofApp(.google)
    package let id = Key<AppID>.ofApp
    package let serviceAccount = Key(
        "service_account", .secret, required: "credential:google.json", .live,
        "The service account's key file (JSON).")
    package let pubsubSubscription = Key(
        "pubsub_subscription", .text, or: "none",
        example: "projects/my-project/subscriptions/play-renewald", .live,
        """
        The Pub/Sub subscription to pull developer notifications from. A bare name means
        the service account's project. No other program may pull from it.
        """)
}

/// `[[app]]` in the Amazon Appstore.
package struct AmazonAppKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "app", repeats: true, store: .amazon, "An app in the Amazon Appstore.")

    package let store = Key<Store>.ofApp(.amazon)
    package let id = Key<AppID>.ofApp
    package let sharedSecret = Key(
        "shared_secret", .secret, required: "credential:amazon-secret", .live,
        "The developer's shared key, from the console's Shared Key page.")
    package let sandbox = Key(
        "sandbox", .boolean, default: false, .live,
        "Whether this app's receipts come from the Cloud Sandbox.")
    package let sqsQueue = Key(
        "sqs_queue", .address, or: "none",
        example: "https://sqs.eu-west-1.amazonaws.com/123456789012/renewald", .live,
        """
        The SQS queue to pull real-time notifications from: its whole address. It must be
        subscribed to the app's topic. No other program may pull from it.
        """)
    package let sqsRegion = Key(
        "sqs_region", .text, or: "the one that the address of the queue names",
        example: "eu-west-1", .live, "The AWS region of the queue.")
    package let sqsAccessKeyID = Key(
        "sqs_access_key_id", .text, or: "none; required with sqs_queue",
        example: "AKIAIOSFODNN7EXAMPLE", .live,
        """
        The access key of the AWS user that may pull: sqs:ReceiveMessage,
        sqs:DeleteMessage and sqs:GetQueueAttributes on this queue, and nothing else.
        """)
    package let sqsSecretAccessKey = Key(
        "sqs_secret_access_key", .secret, or: "none; required with sqs_queue",
        example: "credential:amazon-sqs-key", .live, "The secret of that access key.")
}

/// `[[product]]`.
package struct ProductKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "product", repeats: true,
        """
        A product. List only those that the default does not fit: an auto-renewable subscription
        that grants an entitlement of its own name.
        """)

    let id = Key<ProductID>(
        "id", .name, required: "com.example.pass30", .live, "The store's product id.")
    let kind = Key<ProductKind?>(
        "kind", .choice, or: "the store's", example: "non_renewing", .live,
        """
        The kind of product, where the store's answers do not say it or say it wrong. Google's
        tell a subscription from what is sold once, but not a consumable before it is consumed,
        and no non_renewing. A consumable never grants an entitlement.
        """)
    let duration = Key(
        "duration", .duration(.seconds(1) ... .days(3660)), or: "for ever", example: "P30D", .live,
        """
        How long it lasts after the purchase. Required for non_renewing, allowed for
        non_consumable (a free trial sold at zero), an error for the other kinds.
        """)
    let entitlements = Key(
        "entitlements", .list, or: "its own id", example: .list(["pro"]), .live,
        "The entitlements that it grants.")
}

extension Key where Value == Store {
    fileprivate static func ofApp(_ store: Store) -> Key {
        Key(
            "store", .choice, required: .string(store.rawValue), .live,
            "The store that sells the app.")
    }
}

extension Key where Value == AppID {
    fileprivate static var ofApp: Key {
        Key("id", .name, required: "com.example.reader", .live, "The bundle id or package name.")
    }
}
