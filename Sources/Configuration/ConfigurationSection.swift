package import Renewal

/// A table of the configuration. `[[app]]` has one section for each store.
package struct ConfigurationSection: Hashable, Sendable {
    package let path: [String]
    /// Whether it is written `[[like this]]`, any number of times.
    package let repeats: Bool
    /// For which store's apps it is, among the sections of `[[app]]`.
    package let store: Store?
    /// What the table is about; lines of `etc/renewald.toml`.
    package let sentence: String
    package internal(set) var keys: [ConfigurationKey] = []

    init(_ path: String, repeats: Bool = false, store: Store? = nil, _ sentence: String) {
        self.path = path.split(separator: ".").map(String.init)
        self.repeats = repeats
        self.store = store
        self.sentence = sentence
    }

    /// Every table and key that renewald knows, in the order of `etc/renewald.toml`.
    package static let all: [ConfigurationSection] =
        [database] + apps
        + [
            product, apple, google, amazon, policy, refunds, safety, engine, evidence,
            encryption, metrics, log,
        ]

    static let database = DatabaseKeys.described
    static let apps = [AppleAppKeys.described, GoogleAppKeys.described, AmazonAppKeys.described]
    static let product = ProductKeys.described
    static let apple = AppleKeys.described
    static let google = GoogleKeys.described
    static let amazon = AmazonKeys.described
    static let policy = PolicyKeys.described
    static let refunds = RefundKeys.described
    static let safety = SafetyKeys.described
    static let engine = EngineKeys.described
    static let evidence = EvidenceKeys.described
    static let encryption = EncryptionKeys.described
    static let metrics = MetricsKeys.described
    static let log = LogKeys.described

    /// Every key that an app of some store may have.
    static let anyApp: ConfigurationSection = {
        var section = ConfigurationSection("app", repeats: true, "An app of an unknown store.")
        for key in apps.flatMap(\.keys) where section.key(key.name) == nil {
            section.keys.append(key)
        }
        return section
    }()

    package var name: String { path.joined(separator: ".") }

    /// As it is written: `[engine]` or `[[app]]`.
    package var header: String { repeats ? "[[\(name)]]" : "[\(name)]" }

    func key(_ name: String) -> ConfigurationKey? {
        keys.first { $0.name == name }
    }

    /// Whether the word is a name of a key or table, so that repeating it gives nothing away.
    static func isKnownWord(_ word: some StringProtocol) -> Bool {
        all.contains { section in
            section.name == word || section.path.contains { $0 == word }
                || section.keys.contains { $0.name == word || "\(section.name).\($0.name)" == word }
        }
    }
}
