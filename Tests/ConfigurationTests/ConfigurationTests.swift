import Configuration
import FoundationEssentials
import Renewal
import Testing

@Suite struct ConfigurationTests {
    /// What the design's example says, in short.
    static let example = """
        [database]
        url = "host=db1,db2 dbname=renewald password=fhunter2 target_session_attrs=read-write"

        [[app]]
        store = "apple"
        id = "com.example.reader"
        issuer_id = "issuer"
        key_id = "key"
        private_key = "credential:apple.p8"
        shared_secret = "env:APPLE_SECRET"

        [[app]]
        store = "google"
        id = "com.example.reader"
        service_account = "file:/etc/renewald/google.json"
        pubsub_subscription = "projects/my-project/subscriptions/play"

        [[app]]
        store = "amazon"
        id = "com.example.reader"
        shared_secret = "credential:amazon-secret"
        sandbox = true

        [[product]]
        id = "com.example.pass30"
        kind = "non_renewing"
        duration = "P30D"
        entitlements = ["pro", "reader"]

        [[product]]
        id = "com.example.coins"
        kind = "consumable"

        [store.apple]
        base_url = "http://127.0.0.1:8080/"
        tls_ca = "file:/tmp/ca.pem"
        requests_per_second = 0.5

        [store.google]
        api = "v1"
        acknowledge = "on"
        base_url = "https://[::1]:8443"

        [policy]
        grace = "revoke"
        payment_pending = "revoke"
        leniency = "P1DT12H"
        sandbox = "ignore"
        offers = "off"
        refund = "period_end"
        shared = "move"

        [refunds]
        answer = "policy"
        policy = "prorate"
        wait = "PT90M"
        customer_consented = true

        [safety]
        confirm_after = "PT20M"
        successor_wait = "PT2H"
        max_staleness = "P4W"
        breaker = "off"
        breaker_floor = 50
        breaker_window = "PT30M"
        breaker_factor = 2.5
        breaker_share = 0.01
        breaker_release = "confirmed"

        [engine]
        in_flight = 500
        poll = "PT0.25S"
        notify = "off"
        lease = "PT1M"
        batch = 100
        batch_age = "PT0.1S"
        stop_limit = "PT10S"
        """

    private func parse(_ text: String) throws -> Settings {
        try Settings.parse(text: text, file: "f.toml", environment: [:])
    }

    @Test func readsEveryTable() throws {
        let configuration = try parse(Self.example)
        #expect(configuration.database.url.hasPrefix("host=db1,db2 "))
        #expect(
            configuration.apps.map(\.key)
                == Store.allCases.map { AppKey(store: $0, id: "com.example.reader") })
        #expect(
            configuration.apps.flatMap(\.secrets).map(\.form) == [
                .credential(name: "apple.p8"), .environment(name: "APPLE_SECRET"),
                .file(path: "/etc/renewald/google.json"), .credential(name: "amazon-secret"),
            ])
        guard case .amazon(let amazon) = configuration.apps[2] else {
            Issue.record("the third app is not Amazon's")
            return
        }
        #expect(amazon.sandbox)
        #expect(
            configuration.catalog.product(named: ["com.example.pass30"])
                == Catalog.Product(
                    kind: .nonRenewing, duration: .days(30), entitlements: ["pro", "reader"]))
        #expect(configuration.catalog.product(named: ["com.example.coins"])?.entitlements == [])
    }

    @Test func readsTheStores() throws {
        let stores = try parse(Self.example).stores
        #expect(stores.apple.baseURL == "http://127.0.0.1:8080")
        #expect(stores.apple.verifyReceiptURL == "https://buy.itunes.apple.com/verifyReceipt")
        #expect(stores.tlsCA(.apple)?.path == "/tmp/ca.pem")
        #expect(stores.tlsCA(.google) == nil)
        #expect(stores.google.api == .v1)
        #expect(stores.google.acknowledges)
        #expect(stores.google.baseURL == "https://[::1]:8443")
        #expect(Store.allCases.map(stores.requestsPerSecond) == [0.5, 40, 8])
    }

    @Test func readsPolicySafetyAndEngine() throws {
        let configuration = try parse(Self.example)
        var policy = Policy()
        policy.grace = .revoke
        policy.paymentPending = .revoke
        policy.leniency = .hours(36)
        policy.sandbox = .ignore
        policy.refund = .periodEnd
        policy.shared = .move
        policy.keepsOffers = false
        policy.confirmAfter = .minutes(20)
        policy.successorWait = .hours(2)
        policy.maxStaleness = .days(28)
        policy.breaker.isOn = false
        policy.breaker.floor = 50
        policy.breaker.window = .minutes(30)
        policy.breaker.factor = 2.5
        policy.breaker.share = 0.01
        policy.breaker.release = .confirmed
        #expect(configuration.policy == policy)
        let engine = configuration.engine
        #expect(engine.inFlight == 500)
        #expect(engine.poll == .milliseconds(250))
        #expect(!engine.notify)
        #expect(engine.lease == .seconds(60))
        #expect(engine.batch == 100)
        #expect(engine.batchAge == .milliseconds(100))
        #expect(engine.stopLimit == .seconds(10))
    }

    @Test func readsWhatStoresAreToldAboutRefunds() throws {
        let rule = try parse(Self.example).refunds.rule
        #expect(rule.answering == .policy)
        #expect(rule.policy == .prorate)
        #expect(rule.wait == .minutes(90))
        #expect(rule.isConsented)
        // Nothing is sent that nobody has asked for.
        let silent = try parse("").refunds.rule
        #expect(silent == RefundRule())
        #expect(silent.answering == .off && !silent.isConsented)
    }

    @Test func hasADefaultForEverything() throws {
        let configuration = try parse("")
        #expect(configuration.database.url == "postgresql:///renewald")
        #expect(configuration.apps.isEmpty)
        #expect(configuration.catalog == Catalog())
        #expect(configuration.policy == Policy())
        #expect(configuration.policy.keepsOffers)
        #expect(configuration.policy.breaker.isOn)
        #expect(configuration.engine.inFlight == 200)
        #expect(configuration.engine.poll == .seconds(1))
        #expect(configuration.engine.notify)
        #expect(configuration.engine.lease == .seconds(30))
        #expect(configuration.engine.batchAge == .milliseconds(50))
        #expect(configuration.stores.google.api == .v2)
        #expect(!configuration.stores.google.acknowledges)
    }

    @Test func pullsNotificationsOnlyWhereASubscriptionIsNamed() throws {
        for (text, name) in [
            (Self.example, "projects/my-project/subscriptions/play"),
            (Self.example.replacing(#/pubsub_subscription = .*/#, with: ""), nil),
        ] {
            let names = try parse(text).apps.map { app -> String? in
                guard case .google(let google) = app else { return nil }
                return google.pubsubSubscription
            }
            #expect(names.compactMap { $0 } == (name.map { [$0] } ?? []))
        }
    }

    @Test func toleratesAByteOrderMarkAndCarriageReturns() throws {
        let text = "\u{FEFF}" + Self.example.replacing("\n", with: "\r\n")
        #expect(try parse(text).engine.inFlight == 500)
        do {
            _ = try parse("\u{FEFF}[engine]\r\n\r\nin_flight = 0\r\n")
        } catch let faults as ConfigurationFaults {
            #expect(faults.faults.map(\.line) == [3])
        }
    }

    @Test func readsTheDatabaseFromASecret() throws {
        let configuration = try Settings.parse(
            text: "[database]\nurl = \"env:DATABASE\"", file: "f.toml",
            environment: ["DATABASE": "postgresql://me:fhunter2@host/db\n"])
        #expect(configuration.database.url == "postgresql://me:fhunter2@host/db")
    }

    @Test func showsNoSecretHoweverItIsPrinted() throws {
        let configuration = try parse(Self.example)
        #expect(
            configuration.description == "3 apps (apple com.example.reader, google "
                + "com.example.reader, amazon com.example.reader), products configured: 2, "
                + "checks in flight: 500")
        let secret = SecretBytes(bytes: Array("fhunter2".utf8))
        var printed = "\(configuration) \(configuration.database) \(secret) \([secret])"
        dump(configuration, to: &printed)
        dump(configuration.database, to: &printed)
        dump(secret, to: &printed)
        printed += String(reflecting: configuration) + String(reflecting: secret)
        printed += String(reflecting: configuration.database) + String(reflecting: [secret])
        #expect(!printed.contains("hunter2"))
        #expect(!printed.contains("db1"))
    }
}
