import Configuration
import Testing

/// What is written wrongly, and what the operator is told. Each block is a configuration and, after
/// the arrow, its faults: the line, the key, the sentence.
@Suite struct ConfigurationFaultTests {
    static let table = """
        [engine]
        in_flight = 0
        => 2: engine.in_flight: must be between 1 and 10000, is 0
        ---
        [engine]
        in_flight = "many"
        => 2: engine.in_flight: must be a whole number, is a string
        ---
        [engine]
        in_fligth = 5
        => 2: engine.in_fligth: is not known; the nearest known one is engine.in_flight
        ---
        in_flight = 5
        => 1: in_flight: is not known; the nearest known one is engine.in_flight
        ---
        engine.poll = "1s"
        => 1: engine.poll: must be an ISO 8601 duration such as "PT10M" or "P30D", is "1s"
        ---
        [engine]
        poll = "PT0.001S"
        lease = "PT14.999S"
        => 2: engine.poll: must be between PT0.05S and PT5M, is "PT0.001S"
        => 3: engine.lease: must be between PT15S and PT10M, is "PT14.999S"
        ---
        [engine]
        poll = ""
        notify = "maybe"
        => 2: engine.poll: must not be empty
        => 3: engine.notify: must be "on" or "off"
        ---
        [engine]
        notify = true
        batch = 501
        => 2: engine.notify: must be "on" or "off", is true or false
        => 3: engine.batch: must be between 1 and 500, is 501
        ---
        engine = 5
        => 1: engine: must be written as [engine]
        ---
        [[engine]]
        => 1: engine: must be written as [engine]
        ---
        [enigne]
        in_flight = 5
        => 1: enigne: is not known; the nearest known one is [engine]
        ---
        [safety]
        max_staleness = "P1M"
        confirm_after = "P1Y"
        successor_wait = "PT"
        => 2: safety.max_staleness: must not use months or years, whose length varies: write weeks (P4W), days, hours, minutes or seconds
        => 3: safety.confirm_after: must not use months or years, whose length varies: write weeks (P4W), days, hours, minutes or seconds
        => 4: safety.successor_wait: must be an ISO 8601 duration such as "PT10M" or "P30D", is "PT"
        ---
        [policy]
        grace = "keeep"
        leniency = "P31D"
        refund = 1979-05-27
        => 2: policy.grace: must be "keep" or "revoke"
        => 3: policy.leniency: must be between PT0S and P30D, is "P31D"
        => 4: policy.refund: must be "immediate" or "period_end", is a date
        ---
        [store.apple]
        requests_per_second = 0
        base_url = "ftp://example.com"
        sandbox_url = "https://example.com/path"
        verify_receipt_url = "https://example.com"
        root_certificate = "/etc/root.pem"
        => 2: store.apple.requests_per_second: must be between 0.01 and 100000, is 0
        => 3: store.apple.base_url: must begin with https:// (or http://, which is not encrypted)
        => 4: store.apple.sandbox_url: must be an origin, without a path
        => 5: store.apple.verify_receipt_url: must be whole, with its path
        => 6: store.apple.root_certificate: must be "file:/path", with an absolute path
        ---
        [store.google]
        requests_per_second = -inf
        base_url = "https://me:hunter2@example.com"
        pubsub_url = "https://example.com:0"
        api = "v3"
        tls_ca = "credential:ca"
        acknowledge = true
        => 2: store.google.requests_per_second: must be between 0.01 and 100000, is -inf
        => 3: store.google.base_url: must not contain a user or password
        => 4: store.google.pubsub_url: must have a port between 1 and 65535
        => 5: store.google.api: must be "v2" or "v1"
        => 6: store.google.tls_ca: must be "file:/path", with an absolute path
        => 7: store.google.acknowledge: must be "on" or "off", is true or false
        ---
        [store.amazon]
        base_url = "https://"
        sandbox_url = "https://exa mple.com"
        requests_per_second = nan
        => 2: store.amazon.base_url: must name a host
        => 3: store.amazon.sandbox_url: must not contain spaces or non-ASCII letters
        => 4: store.amazon.requests_per_second: must be between 0.01 and 100000, is nan
        ---
        [store.appel]
        => 1: store.appel: is not known; the nearest known one is [store.apple]
        ---
        [stores.apple]
        requests_per_second = 5
        [stores.gogle]
        => 1: stores.apple: is not known; the nearest known one is [store.apple]
        => 3: stores.gogle: is not known; the nearest known one is [store.google]
        ---
        [[app]]
        store = "aple"
        id = 5
        pubsub_subscription = 7
        servce_account = "credential:x"
        shared_secret = "hunter2"
        => 2: app.store: must be "apple", "google" or "amazon"
        => 3: app.id: must be a string, is a whole number
        => 4: app.pubsub_subscription: must be a string, is a whole number
        => 5: app.servce_account: is not known; the nearest known one is app.service_account
        => 6: app.shared_secret: must be "credential:NAME", "file:/path" or "env:NAME"
        ---
        [[app]]
        store = "amazon"
        id = "com.example.reader"
        shared_secret = "credential:amazon-secret"
        sqs_queue = "https://localhost:9324/1/renewald"
        => 1: app.sqs_access_key_id: is required, such as sqs_access_key_id = "AKIAIOSFODNN7EXAMPLE"
        => 1: app.sqs_secret_access_key: is required, such as sqs_secret_access_key = "credential:amazon-sqs-key"
        => 1: app.sqs_region: is required, such as sqs_region = "eu-west-1"
        ---
        [[app]]
        store = "amazon"
        id = "com.example.reader"
        shared_secret = "credential:amazon-secret"
        sqs_access_key_id = "AKIAIOSFODNN7EXAMPLE"
        => 1: app.sqs_queue: is required, such as sqs_queue = "https://sqs.eu-west-1.amazonaws.com/123456789012/renewald"
        ---
        store = "apple"
        => 1: store: must be written as [store.apple]
        ---
        store.apple = 1
        => 1: store.apple: must be written as [store.apple]
        ---
        [app]
        store = "apple"
        => 1: app: must be written as [[app]]
        ---
        [[app]]
        => 1: app.store: is required, such as store = "apple"
        => 1: app.id: is required, such as id = "com.example.reader"
        ---
        [[app]]
        store = "samsung"
        id = "com.example"
        => 2: app.store: must be "apple", "google" or "amazon"
        ---
        [[app]]
        store = "apple"
        id = ""
        key_id = " K"
        => 1: app.issuer_id: is required, such as issuer_id = "57246542-96fe-1a63-e053-0824d011072a"
        => 1: app.private_key: is required, such as private_key = "credential:apple.p8"
        => 3: app.id: must not be empty
        => 4: app.key_id: must not begin or end with a space
        ---
        [[app]]
        store = "apple"
        id = "a"
        shared_secret = "env:A"
        key_id = "K"
        => 1: app.issuer_id: is required, such as issuer_id = "57246542-96fe-1a63-e053-0824d011072a"
        => 1: app.private_key: is required, such as private_key = "credential:apple.p8"
        ---
        [[app]]
        store = "google"
        id = "com.example"
        service_account = "/etc/key.json"
        issuer_id = "x"
        shared_secret = "env:SECRET"
        => 4: app.service_account: must be "credential:NAME", "file:/path" or "env:NAME"
        => 5: app.issuer_id: is for an app of apple, not of google
        => 6: app.shared_secret: is for an app of apple or amazon, not of google
        ---
        [[app]]
        store = "amazon"
        id = "com.example"
        shared_secret = "credential:../passwd"
        sandbox = "on"
        => 4: app.shared_secret: must be "credential:NAME", "file:/path" or "env:NAME"
        => 5: app.sandbox: must be true or false, is a string
        ---
        [[app]]
        store = "amazon"
        id = "com.example"
        shared_secret = "env:A"
        [[app]]
        store = "amazon"
        id = "com.example"
        shared_secret = "env:B"
        => 5: app.id: is configured twice for amazon; it is also on line 1
        ---
        [[product]]
        id = "a"
        kind = "non_renewing"
        [[product]]
        id = "b"
        kind = "auto_renewable"
        duration = "P30D"
        [[product]]
        id = "c"
        kind = "consumable"
        entitlements = ["pro"]
        [[product]]
        id = "a"
        => 1: product.duration: is required for kind = "non_renewing", such as "P30D"
        => 7: product.duration: has no meaning for kind = "auto_renewable"
        => 11: product.entitlements: a consumable never grants an entitlement
        => 13: product.id: is configured twice
        ---
        [[product]]
        entitlements = []
        [[product]]
        id = "b"
        entitlements = ["pro", "pro"]
        [[product]]
        id = "c"
        entitlements = ["pro", 5]
        [[product]]
        id = 5
        entitlements = "pro"
        => 1: product.id: is required, such as id = "com.example.pass30"
        => 2: product.entitlements: must not be empty
        => 5: product.entitlements: names an entry twice
        => 8: product.entitlements: must be a list of strings, has a whole number in it
        => 10: product.id: must be a string, is a whole number
        => 11: product.entitlements: must be a list of strings, is a string
        ---
        [database]
        url = "env:NOWHERE"
        => 2: database.url: the environment variable NOWHERE is not set
        ---
        [database]
        url = "env:NO_SUCH_VARIABLE"
        => 2: database.url: the environment variable NO_SUCH_VARIABLE is not set
        ---
        [database]
        url = ""
        user = "me"
        => 2: database.url: must not be empty
        => 3: database.user: is not known; the nearest known one is database.url
        ---
        [engine]
        poll = "PT1S"
        poll = "PT2S"
        => 3: is not valid TOML: Error while parsing key-value pair: cannot redefine existing string 'poll'
        ---
        [engine
        => 1: is not valid TOML: Error while parsing table header: encountered end-of-file
        ---
        [engine]
        [ .policy]
        => 2: is not valid TOML: a table header must begin with a name
        ---
        [[=app]]
        => 1: is not valid TOML: a table header must begin with a name
        ---
        [[app]]
        acknowledge = [ "a}\u{2028}", { b = [1] },
            2, }
        => 3: is not valid TOML: a list must end with ]
        ---
        [database]
        url = [ \u{2028}"a" ]
        => 2: is not valid TOML: a list must not hold a line separator of Unicode
        ---
        [database]
        url = [ "a", \u{85}]
        => 2: is not valid TOML: a list must not hold a line separator of Unicode
        """

    static let blocks = table.split(separator: "\n---\n").map(String.init)

    @Test(arguments: blocks)
    func tellsEveryFaultWithItsPlace(_ block: String) {
        let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
        let written = lines.filter { !$0.hasPrefix("=> ") }.joined(separator: "\n")
        let expected = lines.filter { $0.hasPrefix("=> ") }.map { "f.toml:" + $0.dropFirst(3) }
        #expect(Settings.faults(of: written) == expected)
    }

    @Test func reportsAFaultOfEveryTableTogether() {
        let text = """
            [database]
            url = 1
            [[app]]
            store = "google"
            [[product]]
            kind = "x"
            [policy]
            grace = "x"
            [safety]
            breaker = "x"
            [store.apple]
            api = "v2"
            [engine]
            in_flight = 0
            """
        #expect(
            Settings.faults(of: text).map { $0.split(separator: ": ")[1] } == [
                "database.url", "app.id", "app.service_account", "product.id", "product.kind",
                "policy.grace", "safety.breaker", "store.apple.api", "engine.in_flight",
            ])
    }

    @Test(arguments: [
        "[[app]]\nstore = \"amazon\"\nid = \"a\"\nshared_secret = \"fhunter2\"",
        "[[app]]\nstore = \"amazon\"\nid = \"a\"\nshared_secret = fhunter2",
        "[[app]]\nstore = \"amazon\"\nid = \"a\"\nshared_secret = thunter2",
        "[[app]]\nstore = \"amazon\"\nid = \"a\"\nshared_secret = fhunter2 'b'",
        "[[app]]\nstore = \"amazon\"\nid = \"a\"\nshared_secret = \"fhunter2\" \"fhunter2\"",
        "[[app]]\nstore = \"amazon\"\nid = \"a\"\nshared_secret = \"fhunter2",
        "[[app]]\nstore = \"amazon\"\nid = \"a\"\nshared_secret = 9fhunter2",
        "[database]\nurl = postgresql://me:fhunter2@host/db",
        "[database]\nurl = [\"postgresql://me:fhunter2@host/db\"]",
        "[policy]\ngrace = \"fhunter2\"",
        "[engine]\npoll = \"fhunter2\"",
        "[store.apple]\nbase_url = \"https://me:fhunter2@example.com\"",
        "[store.apple]\nbase_url = \"fhunter2\"",
        "[store.apple]\nroot_certificate = \"fhunter2\"",
    ])
    func neverRepeatsASecret(_ text: String) {
        let told = Settings.faults(of: text)
        #expect(!told.isEmpty)
        for fault in told { #expect(!fault.contains("hunter2")) }
    }

    @Test func neverRepeatsALongNumber() {
        let told = Settings.faults(of: "a = 99999999999999999999999999")
        #expect(told.count == 1)
        #expect(!told.joined().contains("9999"))
    }

    @Test func saysWhatToDoWithoutAFile() {
        let file = "/nonexistent/renewald.toml"
        #expect(throws: ConfigurationFaults.self) {
            try Settings.load(file: file, environment: [:])
        }
        do {
            _ = try Settings.load(file: file, environment: [:])
        } catch {
            #expect(
                error.description == "\(file): does not exist: write one "
                    + "(etc/renewald.toml lists every key) or name another with --config")
        }
    }

    @Test func refusesAFolderAndADeviceInPlaceOfTheFile() {
        for file in ["/etc", "/dev/zero"] {
            do {
                _ = try Settings.load(file: file, environment: [:])
                Issue.record("\(file) was accepted")
            } catch {
                #expect(error.description.hasPrefix("\(file): is not a plain file: "))
            }
        }
    }
}

extension Settings {
    /// What is wrong with a text, as it is told.
    static func faults(of text: String) -> [String] {
        do {
            _ = try Settings.parse(text: text, file: "f.toml", environment: [:])
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }
}
