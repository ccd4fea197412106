import Renewal

/// Turns a parsed file into a configuration and collects every fault on the way.
struct ConfigurationBuilder {
    private let root: [String: TOMLNode]
    private let lines: TOMLLines
    private let file: String
    private(set) var faults: [ConfigurationFault] = []

    init(root: [String: TOMLNode], lines: TOMLLines, file: String) {
        self.root = root
        self.lines = lines
        self.file = file
    }

    /// - Returns: what may be used only if no fault was found.
    mutating func build(environment: [String: String]) -> Settings {
        checkTables()
        let products = self.products()
        var (policy, keepsOffers) = self.policy()
        let safety = safety(&policy)
        return Settings(
            database: database(environment), apps: apps(), catalog: Catalog(products),
            policy: policy, keepsOffers: keepsOffers, stores: stores(keepsOffers), safety: safety,
            engine: engine(), evidence: evidence(), metrics: metrics(),
            userNames: userNames(), productCount: products.count)
    }

    // MARK: Tables

    /// Refuses tables that nobody knows and those of the wrong shape.
    private mutating func checkTables() {
        let names = Set(ConfigurationSection.all.compactMap(\.path.first))
        for name in root.keys.sorted() where !names.contains(name) {
            for path in Self.tables(under: name, root[name]) {
                let word = path.joined(separator: ".")
                fault(path, Nearest.sentence(forTable: word, isTable: root[name].isTable))
            }
        }
        guard case .table(let stores)? = root["store"] else {
            if root["store"] != nil { fault(["store"], "must be written as [store.apple]") }
            return
        }
        for name in stores.keys.sorted() where Store(rawValue: name) == nil {
            let word = "store.\(name)"
            fault(["store", name], Nearest.sentence(forTable: word, isTable: stores[name].isTable))
        }
    }

    /// The paths of what is unknown: `[stores.apple]` is about `stores.apple`, not about `stores`.
    private static func tables(under name: String, _ node: TOMLNode?) -> [TOMLLines.Path] {
        guard case .table(let inner)? = node, !inner.isEmpty,
            inner.values.allSatisfy({ Optional($0).isTable })
        else { return [[name]] }
        return inner.keys.sorted().map { [name, $0] }
    }

    private mutating func fault(_ path: [String], _ sentence: String) {
        faults.append(
            ConfigurationFault(
                file: file, line: lines.line(of: path), key: path.joined(separator: "."),
                sentence: sentence))
    }

    /// The reader of a table that is written once; of an empty one if it is not written.
    private mutating func reader(_ section: ConfigurationSection) -> SectionReader {
        var node = TOMLNode.table(root)
        for name in section.path {
            guard case .table(let fields) = node else { break }
            node = fields[name] ?? .table([:])
        }
        var fields: [String: TOMLNode] = [:]
        if case .table(let written) = node {
            fields = written
        } else if section.path.count == 1 || root["store"].isTable {
            fault(section.path, "must be written as \(section.header)")
        }
        return SectionReader(section, fields: fields, path: section.path, lines: lines, file: file)
    }

    /// The tables of an array of tables, each with the path to its lines.
    private mutating func elements(
        _ name: String
    ) -> [(fields: [String: TOMLNode], path: TOMLLines.Path)] {
        guard let node = root[name] else { return [] }
        guard case .array(let nodes) = node else {
            fault([name], "must be written as [[\(name)]]")
            return []
        }
        var elements: [(fields: [String: TOMLNode], path: TOMLLines.Path)] = []
        for (index, node) in nodes.enumerated() {
            guard case .table(let fields) = node else {
                fault([name], "must be written as [[\(name)]]")
                continue
            }
            elements.append((fields, [name, String(index)]))
        }
        return elements
    }

    // MARK: Sections

    private mutating func database(_ environment: [String: String]) -> Settings.Database {
        var reader = reader(.database)
        defer { faults += reader.faults }
        let url = reader.text("url")
        guard let form = SecretSource.Form(url) else { return Settings.Database(url: url) }
        let source = SecretSource(form: form, place: reader.place("url"))
        do throws(ConfigurationFault) {
            guard let text = try source.read(environment: environment).text else {
                throw source.place.fault("the secret is not UTF-8 text")
            }
            return Settings.Database(url: text)
        } catch {
            faults.append(error)
            return Settings.Database(url: "")
        }
    }

    private mutating func apps() -> [App] {
        var apps: [App] = []
        var seen: [AppKey: Int?] = [:]
        for element in elements("app") {
            guard let app = app(element.fields, element.path) else { continue }
            let line = lines.line(of: element.path)
            if let first = seen[app.key] {
                let place = first.map { "; it is also on line \($0)" } ?? ""
                faults.append(
                    ConfigurationFault(
                        file: file, line: line, key: "app.id",
                        sentence: "is configured twice for \(app.key.store.rawValue)\(place)"))
                continue
            }
            seen[app.key] = .some(line)
            apps.append(app)
        }
        return apps
    }

    /// - Returns: nil when it could not be read: then there is a fault.
    private mutating func app(_ fields: [String: TOMLNode], _ path: TOMLLines.Path) -> App? {
        let section = ConfigurationSection.apps.first {
            fields["store"] == $0.store.map { .string($0.rawValue) }
        }
        guard let section else {
            // Which keys are needed depends on the store; what is written can be wrong in any.
            var reader = SectionReader(
                .anyApp, fields: fields, path: path, lines: lines, file: file)
            for key in ConfigurationSection.anyApp.keys
            where ["store", "id"].contains(key.name) || reader.isWritten(key.name) {
                reader.check(key.name)
            }
            faults += reader.faults
            return nil
        }
        var reader = SectionReader(section, fields: fields, path: path, lines: lines, file: file)
        defer { faults += reader.faults }
        let id = AppID(reader.text("id"))
        switch section.store {
        case .apple:
            return reader.appleApp(id).map(App.apple)
        case .google:
            let subscription =
                reader.isWritten("pubsub_subscription")
                ? reader.text("pubsub_subscription") : nil
            guard let account = reader.secret("service_account") else { return nil }
            return .google(
                GoogleApp(id: id, serviceAccount: account, pubsubSubscription: subscription))
        case .amazon:
            let sandbox = reader.boolean("sandbox")
            guard let secret = reader.secret("shared_secret") else { return nil }
            return .amazon(AmazonApp(id: id, sharedSecret: secret, sandbox: sandbox))
        case nil: return nil
        }
    }

    private mutating func products() -> [ProductID: Catalog.Product] {
        var products: [ProductID: Catalog.Product] = [:]
        for element in elements("product") {
            var reader = SectionReader(
                .product, fields: element.fields, path: element.path, lines: lines, file: file)
            let id = ProductID(reader.text("id"))
            let product = product(id, &reader)
            if !id.isEmpty, products.updateValue(product, forKey: id) != nil {
                reader.fault("id", "is configured twice")
            }
            faults += reader.faults
        }
        return products
    }

    private func product(_ id: ProductID, _ reader: inout SectionReader) -> Catalog.Product {
        let kind = reader.choice("kind", ProductKind.self)
        let duration = reader.duration("duration")
        let entitlements = reader.list("entitlements")?.map(EntitlementID.init)
        switch kind {
        case .nonRenewing where !reader.isWritten("duration"):
            reader.fault("duration", "is required for kind = \"non_renewing\", such as \"P30D\"")
        case .autoRenewable where duration != nil, .consumable where duration != nil:
            reader.fault(
                "duration", "has no meaning for kind = \"\(kind?.rawValue ?? "")\"")
        case .consumable where entitlements != nil:
            reader.fault("entitlements", "a consumable never grants an entitlement")
        case .autoRenewable, .nonRenewing, .nonConsumable, .consumable, nil: break
        }
        let own = kind == .consumable ? [] : [id.entitlement]
        return Catalog.Product(
            kind: kind, duration: duration, entitlements: entitlements ?? own)
    }

    private mutating func policy() -> (Policy, keepsOffers: Bool) {
        var policy = Policy()
        var reader = reader(.policy)
        policy.grace = reader.choice("grace") ?? policy.grace
        policy.paymentPending = reader.choice("payment_pending") ?? policy.paymentPending
        policy.leniency = reader.duration("leniency") ?? policy.leniency
        policy.sandbox = reader.choice("sandbox") ?? policy.sandbox
        policy.refund = reader.choice("refund") ?? policy.refund
        policy.shared = reader.choice("shared") ?? policy.shared
        let keepsOffers = reader.isOn("offers")
        faults += reader.faults
        return (policy, keepsOffers)
    }

    /// Fills in the waiting times of the policy.
    private mutating func safety(_ policy: inout Policy) -> Settings.Safety {
        var reader = reader(.safety)
        policy.confirmAfter = reader.duration("confirm_after") ?? policy.confirmAfter
        policy.successorWait = reader.duration("successor_wait") ?? policy.successorWait
        policy.maxStaleness = reader.duration("max_staleness") ?? policy.maxStaleness
        let holdsAvalanches = reader.isOn("breaker")
        faults += reader.faults
        return Settings.Safety(holdsAvalanches: holdsAvalanches)
    }

    private mutating func engine() -> Settings.Engine {
        var reader = reader(.engine)
        defer { faults += reader.faults }
        return Settings.Engine(
            inFlight: reader.integer("in_flight"), poll: reader.duration("poll") ?? .seconds(1),
            notify: reader.isOn("notify"), lease: reader.duration("lease") ?? .seconds(30),
            batch: reader.integer("batch"),
            batchAge: reader.duration("batch_age") ?? .milliseconds(50),
            stopLimit: reader.duration("stop_limit") ?? .seconds(25))
    }

    private mutating func evidence() -> Settings.Evidence {
        var reader = reader(.evidence)
        defer { faults += reader.faults }
        return Settings.Evidence(
            keep: reader.duration("keep") ?? .days(400), keepsRaw: reader.isOn("raw"))
    }

    private mutating func metrics() -> Settings.Metrics {
        var reader = reader(.metrics)
        defer { faults += reader.faults }
        let listen = reader.text("listen")
        let goesBeyond = reader.boolean("beyond_loopback")
        let address = ListenAddress(listen)
        if let address, !address.isLoopback, !goesBeyond {
            reader.fault(
                "listen", "can be reached by other machines: that needs beyond_loopback = true")
        }
        return Settings.Metrics(listen: address)
    }

    private mutating func userNames() -> UserNames {
        var reader = reader(.log)
        defer { faults += reader.faults }
        return reader.choice("user_ids") ?? .plain
    }

    private mutating func stores(_ keepsOffers: Bool) -> StoreSettings {
        var apple = reader(.apple)
        var google = reader(.google)
        var amazon = reader(.amazon)
        let settings = StoreSettings(
            apple: AppleSettings(&apple, readsOffers: keepsOffers),
            google: GoogleSettings(&google),
            amazon: AmazonSettings(&amazon))
        faults += apple.faults + google.faults + amazon.faults
        return settings
    }
}

extension SectionReader {
    /// The key of the App Store Server API may be missing where there is a shared secret: receipts
    /// alone can be asked about then.
    fileprivate mutating func appleApp(_ id: AppID) -> AppleApp? {
        let names = ["issuer_id", "key_id", "private_key"]
        let (issuerID, keyID) = (text("issuer_id"), text("key_id"))
        let (key, shared) = (secret("private_key"), secret("shared_secret"))
        guard !isWritten("shared_secret") || names.contains(where: isWritten) else {
            return AppleApp(id: id, apiKey: nil, sharedSecret: shared)
        }
        for name in names where !isWritten(name) { faultMissing(name) }
        guard let key else { return nil }
        return AppleApp(
            id: id,
            apiKey: AppleApp.APIKey(issuerID: issuerID, keyID: keyID, privateKey: key),
            sharedSecret: shared)
    }
}

extension AppleSettings {
    fileprivate init(_ reader: inout SectionReader, readsOffers: Bool) {
        self.init(
            baseURL: reader.url("base_url"), sandboxURL: reader.url("sandbox_url"),
            verifyReceiptURL: reader.url("verify_receipt_url"),
            sandboxVerifyReceiptURL: reader.url("sandbox_verify_receipt_url"),
            rootCertificate: reader.inputFile("root_certificate"), readsOffers: readsOffers,
            tlsCA: reader.inputFile("tls_ca"),
            requestsPerSecond: reader.number("requests_per_second"))
    }
}

extension GoogleSettings {
    fileprivate init(_ reader: inout SectionReader) {
        self.init(
            baseURL: reader.url("base_url"), pubsubURL: reader.url("pubsub_url"),
            api: reader.choice("api") ?? .v2, acknowledges: reader.isOn("acknowledge"),
            tlsCA: reader.inputFile("tls_ca"),
            requestsPerSecond: reader.number("requests_per_second"))
    }
}

extension AmazonSettings {
    fileprivate init(_ reader: inout SectionReader) {
        self.init(
            baseURL: reader.url("base_url"), sandboxURL: reader.url("sandbox_url"),
            tlsCA: reader.inputFile("tls_ca"),
            requestsPerSecond: reader.number("requests_per_second"))
    }
}

extension TOMLNode? {
    fileprivate var isTable: Bool {
        if case .table = self { true } else { false }
    }
}
