import Renewal

extension ConfigurationSection {
    /// Every table and key that renewald knows, in the order of `etc/renewald.toml`.
    package static let all: [ConfigurationSection] =
        [database] + apps + [product] + stores + [policy, safety, engine, evidence, metrics, log]

    static let database = ConfigurationSection(
        "database", "Where purchases, entitlements and events are.",
        [
            ConfigurationKey(
                "url", .connection, .byDefault(.string("postgresql:///renewald")),
                """
                Any libpq connection string; several hosts are allowed. What it leaves out comes
                from the PG* environment variables. With a password in it, keep it elsewhere:
                "credential:database-url".
                """)
        ])

    private static let appID = ConfigurationKey(
        "id", .text, .required(example: .string("com.example.reader")),
        "The bundle id or package name.")

    private static func storeKey(_ store: Store) -> ConfigurationKey {
        ConfigurationKey(
            "store", .choice(Store.allCases.map(\.rawValue)),
            .required(example: .string(store.rawValue)), "The store that sells the app.")
    }

    private static func required(
        _ name: String, _ form: ConfigurationKey.Form, _ example: String, _ sentence: String
    ) -> ConfigurationKey {
        ConfigurationKey(name, form, .required(example: .string(example)), sentence)
    }

    private static func keyPart(
        _ name: String, _ form: ConfigurationKey.Form, _ example: String, _ sentence: String
    ) -> ConfigurationKey {
        ConfigurationKey(
            name, form,
            .optional(
                meaning: "none, with a shared_secret only; required otherwise",
                example: .string(example)), sentence)
    }

    static let apps = [
        ConfigurationSection(
            "app", repeats: true, store: .apple, "An app in the Apple App Store.",
            [
                storeKey(.apple), appID,
                keyPart(
                    "issuer_id", .text, "57246542-96fe-1a63-e053-0824d011072a",
                    "App Store Connect, Users and Access, Integrations, In-App Purchase."),
                keyPart("key_id", .text, "2X9R4HXF34", "The id of the In-App Purchase key."),
                keyPart(
                    "private_key", .secret, "credential:apple.p8",
                    "That key, as downloaded (.p8)."),
                ConfigurationKey(
                    "shared_secret", .secret,
                    .optional(
                        meaning: "none",
                        example: .string("credential:apple-shared-secret")),
                    """
                    The app's shared secret. Only legacy receipts need it: those that hold no
                    transaction id, or all of them where there is no key.
                    """),
            ]),
        ConfigurationSection(
            "app", repeats: true, store: .google, "An app in Google Play.",
            [
                storeKey(.google), appID,
                required(
                    "service_account", .secret, "credential:google.json",
                    "The service account's key file (JSON)."),
                ConfigurationKey(
                    "pubsub_subscription", .text,
                    .optional(
                        meaning: "none",
                        example: .string("projects/my-project/subscriptions/play-renewald")),
                    """
                    The Pub/Sub subscription to pull the developer notifications from; its name
                    alone is of the service account's project. Give it to renewald alone.
                    """),
            ]),
        ConfigurationSection(
            "app", repeats: true, store: .amazon, "An app in the Amazon Appstore.",
            [
                storeKey(.amazon), appID,
                required(
                    "shared_secret", .secret, "credential:amazon-secret",
                    "The developer's shared key, from the console's Shared Key page."),
                ConfigurationKey(
                    "sandbox", .boolean, .byDefault(.boolean(false)),
                    "Whether this app's receipts come from the Cloud Sandbox."),
            ]),
    ]

    /// Every key that an app of some store may have.
    static let anyApp = ConfigurationSection(
        "app", repeats: true, "An app of a store that is not known.",
        apps.flatMap(\.keys).reduce(into: []) { keys, key in
            if !keys.contains(where: { $0.name == key.name }) { keys.append(key) }
        })

    static let product = ConfigurationSection(
        "product", repeats: true,
        """
        A product, only where the default does not fit: an auto-renewable subscription that grants
        an entitlement of its own name.
        """,
        [
            required("id", .text, "com.example.pass30", "As the store names it."),
            ConfigurationKey(
                "kind", .choice(ProductKind.allCases.map(\.rawValue)),
                .optional(meaning: "by its store", example: .string("non_renewing")),
                """
                How it is sold, where what the store itself says does not do. A consumable never
                grants an entitlement.
                """),
            ConfigurationKey(
                "duration", .duration(.seconds(1) ... .days(3660)),
                .optional(meaning: "for ever", example: .string("P30D")),
                """
                How long it is in force after its purchase. Required for non_renewing, allowed for
                non_consumable (a free trial sold at zero), refused for the other kinds.
                """),
            ConfigurationKey(
                "entitlements", .list,
                .optional(meaning: "its own id", example: .list(["pro"])), "What it grants."),
        ])

    static let policy = ConfigurationSection(
        "policy", "What the operator decides about access.",
        [
            choice(
                "grace", Policy.Choice.keep,
                "Access while payment has failed and the store gives grace."),
            choice(
                "payment_pending", Policy.Choice.keep,
                "Access while Google says that payment is pending and still extends."),
            duration(
                "leniency", "PT0S", .zero ... .days(30),
                "Extra time before `expired` or `cancelled` revokes."),
            choice(
                "sandbox", Policy.Sandbox.grant,
                "Whether sandbox purchases (app review and testers use them) grant."),
            ConfigurationKey(
                "offers", .onOff, .byDefault(.string("on")),
                """
                Whether renewald.offers is kept. For Apple this costs one history read for each new
                subscription.
                """),
            choice(
                "refund", Policy.Refund.immediate,
                "When a refunded purchase loses access: at once, or when its paid period ends."),
            choice(
                "shared", Policy.Shared.keep,
                """
                A token submitted for a second user: keep it with the first, move it to the latest,
                or allow it for both.
                """),
        ])

    static let safety = ConfigurationSection(
        "safety", "What keeps a wrong answer from taking access away.",
        [
            duration(
                "confirm_after", "PT6H", .seconds(1) ... .days(7),
                """
                Least time before the second opinion on ambiguous bad news; ten minutes at most for
                what never was granted.
                """),
            duration(
                "successor_wait", "PT1H", .zero ... .days(7),
                """
                How long a replaced purchase keeps access while its successor has not been
                submitted.
                """),
            duration(
                "max_staleness", "P30D", .minutes(1) ... .days(3650),
                """
                When the store was asked in vain for this long, and the paid time is over, access
                ends. The time in which nobody asked does not count.
                """),
            ConfigurationKey(
                "breaker", .onOff, .byDefault(.string("on")),
                """
                Whether an avalanche of revocations is held until a person lets it go. It has no
                effect yet: nothing is held, and the start of the daemon and doctor say so.
                """),
        ])

    static let engine = ConfigurationSection(
        "engine", "How the work is done.",
        [
            ConfigurationKey(
                "in_flight", .integer(1...10_000), .byDefault(.integer(200)),
                "Checks under way at once."),
            duration(
                "poll", "PT1S", .milliseconds(50) ... .minutes(5),
                "How often idle shards are looked at. NOTIFY only makes it sooner."),
            ConfigurationKey(
                "notify", .onOff, .byDefault(.string("on")),
                """
                Whether LISTEN and NOTIFY are used. Switch it off for a database or pooler that
                lacks them.
                """),
            duration(
                "lease", "PT30S", .seconds(15) ... .minutes(10),
                """
                How long a silent worker keeps its shards: three times the longest wait for the
                database (5 s) at least. Another worker takes over after that time.
                """),
            ConfigurationKey(
                "batch", .integer(1...500), .byDefault(.integer(200)),
                "Checks committed together, at most."),
            duration(
                "batch_age", "PT0.05S", .milliseconds(1) ... .seconds(5),
                "How long a finished check waits for others to be committed with."),
            duration(
                "stop_limit", "PT25S", .seconds(1) ... .minutes(10),
                "How long SIGTERM lets the checks in hand finish before they are cancelled."),
        ])

    static let evidence = ConfigurationSection(
        "evidence",
        """
        What is kept of the checks that mattered, for renewald explain: what was asked, what the
        store said, the rule that was applied.
        """,
        [
            duration(
                "keep", "P400D", .zero ... .days(3660),
                """
                Retention. A month of evidence is dropped once its last day is older than this.
                "PT0S" keeps nothing.
                """),
            ConfigurationKey(
                "raw", .onOff, .byDefault(.string("off")),
                """
                Whether the stores' answers are kept whole. They may hold receipts and names: who
                reads the database reads them then.
                """),
        ])

    static let metrics = ConfigurationSection(
        "metrics",
        "Figures for Prometheus, and whether the daemon is well: /metrics, /healthz, /readyz.",
        [
            ConfigurationKey(
                "listen", .listen,
                .optional(meaning: "off", example: .string("127.0.0.1:9464")),
                """
                Where to answer, in plain HTTP. The figures name apps and stores, never users.
                """),
            ConfigurationKey(
                "beyond_loopback", .boolean, .byDefault(.boolean(false)),
                "Whether an address that other machines can reach may be listened on."),
        ])

    static let log = ConfigurationSection(
        "log", "What the log says.",
        [
            choice(
                "user_ids", UserNames.plain,
                """
                How users are named: by their id, or by the first 16 digits of its SHA-256:
                printf %s USER | sha256sum | cut -c -16
                """)
        ])

    private static func choice<Value>(
        _ name: String, _ standard: Value, _ sentence: String
    ) -> ConfigurationKey
    where Value: CaseIterable & RawRepresentable<String> {
        ConfigurationKey(
            name, .choice(Value.allCases.map(\.rawValue)), .byDefault(.string(standard.rawValue)),
            sentence)
    }

    private static func duration(
        _ name: String, _ standard: String, _ range: ClosedRange<Duration>, _ sentence: String
    ) -> ConfigurationKey {
        ConfigurationKey(name, .duration(range), .byDefault(.string(standard)), sentence)
    }
}
