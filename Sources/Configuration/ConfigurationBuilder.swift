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
        var policy = Policy()
        policy.take(values(PolicyKeys.self))
        let safety = values(SafetyKeys.self)
        policy.take(safety)
        return Settings(
            database: database(environment), apps: apps(), catalog: Catalog(products),
            policy: policy,
            stores: StoreSettings(
                apple: values(), google: values(), amazon: values(),
                readsOffers: policy.keepsOffers),
            refunds: values(),
            safety: safety, engine: values(), evidence: values(), encryption: values(),
            metrics: metrics(), log: values(), productCount: products.count)
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

    private mutating func values<Keys: KeyGroup>(
        _: Keys.Type = Keys.self
    ) -> TableValues<Keys> {
        let reader = reader(Keys.described)
        faults += reader.faults
        return reader.values()
    }

    private mutating func database(_ environment: [String: String]) -> Settings.Database {
        let reader = reader(.database)
        faults += reader.faults
        let url = reader.values(DatabaseKeys.self).url
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

    private mutating func metrics() -> TableValues<MetricsKeys> {
        var reader = reader(.metrics)
        let metrics = reader.values(MetricsKeys.self)
        if let address = metrics.listen, !address.isLoopback, !metrics.goesBeyondLoopback {
            reader.fault(
                "listen", "can be reached by other machines: that needs beyond_loopback = true")
        }
        faults += reader.faults
        return metrics
    }

    private mutating func apps() -> [App] {
        var apps: [App] = []
        var seen: [AppKey: Int?] = [:]
        var sources: [String: AppKey] = [:]
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
            checkSource(of: app, at: element.path, besides: &sources)
            apps.append(app)
        }
        return apps
    }

    /// A store gives each piece of news of a subscription or queue to whoever asks first: what two
    /// apps share, each would take from the other.
    private mutating func checkSource(
        of app: App, at path: TOMLLines.Path, besides sources: inout [String: AppKey]
    ) {
        guard let source = app.newsSource else { return }
        let other = sources.updateValue(app.key, forKey: source.name)
        guard let other else { return }
        faults.append(
            ConfigurationFault(
                file: file, line: lines.line(of: path + [source.key]),
                key: "app.\(source.key)",
                sentence: "is that of \(other.id) already: each app needs its own"))
    }

    /// - Returns: nil when its store is not known: then there is a fault.
    private mutating func app(_ fields: [String: TOMLNode], _ path: TOMLLines.Path) -> App? {
        let section = ConfigurationSection.apps.first {
            fields["store"] == $0.store.map { .string($0.rawValue) }
        }
        // Which keys are needed depends on the store; what is written can be wrong in any.
        var reader = SectionReader(
            section ?? .anyApp, fields: fields, path: path, lines: lines, file: file,
            requiring: { section != nil || ["store", "id"].contains($0) })
        defer { faults += reader.faults }
        switch section?.store {
        case .apple:
            reader.checkAppleKey()
            return .apple(reader.values())
        case .google: return .google(reader.values())
        case .amazon:
            reader.checkAmazonQueue()
            return .amazon(reader.values())
        case nil: return nil
        }
    }

    private mutating func products() -> [ProductID: Catalog.Product] {
        var products: [ProductID: Catalog.Product] = [:]
        for element in elements("product") {
            var reader = SectionReader(
                .product, fields: element.fields, path: element.path, lines: lines, file: file)
            let written = reader.values(ProductKeys.self)
            let id = written.id
            let product = product(id, written, &reader)
            if reader.isInOrder("id"), products.updateValue(product, forKey: id) != nil {
                reader.fault("id", "is configured twice")
            }
            faults += reader.faults
        }
        return products
    }

    private func product(
        _ id: ProductID, _ written: TableValues<ProductKeys>, _ reader: inout SectionReader
    ) -> Catalog.Product {
        let (kind, duration) = (written.kind, written.duration)
        let entitlements = written.entitlements?.map(EntitlementID.init)
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
}

extension SectionReader {
    /// The key of the App Store Server API may be missing where there is a shared secret: receipts
    /// alone can be asked about then.
    fileprivate mutating func checkAppleKey() {
        let names = ["issuer_id", "key_id", "private_key"]
        guard !isWritten("shared_secret") || names.contains(where: isWritten) else { return }
        for name in names where !isWritten(name) { faultMissing(name) }
    }

    /// A queue is pulled with a key, in a region; neither is of use without a queue.
    fileprivate mutating func checkAmazonQueue() {
        let keys = ["sqs_access_key_id", "sqs_secret_access_key"]
        guard isWritten("sqs_queue") else {
            if (keys + ["sqs_region"]).contains(where: isWritten) { faultMissing("sqs_queue") }
            return
        }
        for name in keys where !isWritten(name) { faultMissing(name) }
        let app = values(AmazonAppKeys.self)
        if isInOrder("sqs_queue"), !isWritten("sqs_region"), app.queue?.region == nil {
            faultMissing("sqs_region")
        }
    }
}

extension TOMLNode? {
    fileprivate var isTable: Bool {
        if case .table = self { true } else { false }
    }
}
