package import Renewal

/// One key of the configuration, described once: what is read, what is refused, what
/// `etc/renewald.toml` says all come from here.
package struct ConfigurationKey: Hashable, Sendable {
    /// What may be written.
    package enum Form: Hashable, Sendable {
        /// One line without control characters.
        case text
        /// `credential:NAME`, `file:/path` or `env:NAME`.
        case secret
        /// A libpq connection string, or where it is kept.
        case connection
        /// `file:/path`.
        case file
        /// Scheme, host and port.
        case origin
        /// An origin with its path.
        case address
        /// An IP address and a port, to listen on.
        case listen
        case choice([String])
        /// `"on"` or `"off"`.
        case onOff
        /// `true` or `false`.
        case boolean
        case integer(ClosedRange<Int>)
        case number(ClosedRange<Double>)
        case duration(ClosedRange<Duration>)
        case list
    }

    /// What holds when nothing is written.
    package enum Presence: Hashable, Sendable {
        /// A TOML literal's value.
        case byDefault(Literal)
        /// Nothing; the text says what that means, after the word "default:".
        case optional(meaning: String, example: Literal)
        case required(example: Literal)
    }

    package enum Literal: Hashable, Sendable {
        case string(String)
        case integer(Int)
        case boolean(Bool)
        case list([String])
    }

    package let name: String
    package let form: Form
    package let presence: Presence
    /// What the key does, with its unit; lines of `etc/renewald.toml`.
    package let sentence: String

    init(_ name: String, _ form: Form, _ presence: Presence, _ sentence: String) {
        self.name = name
        self.form = form
        self.presence = presence
        self.sentence = sentence
    }
}

/// A table of the configuration. `[[app]]` has one section for each store.
package struct ConfigurationSection: Hashable, Sendable {
    package let path: [String]
    /// Whether it is written `[[like this]]`, any number of times.
    package let repeats: Bool
    /// For which store's apps it is, among the sections of `[[app]]`.
    package let store: Store?
    /// What the table is about; lines of `etc/renewald.toml`.
    package let sentence: String
    package let keys: [ConfigurationKey]

    init(
        _ path: String, repeats: Bool = false, store: Store? = nil, _ sentence: String,
        _ keys: [ConfigurationKey]
    ) {
        self.path = path.split(separator: ".").map(String.init)
        self.repeats = repeats
        self.store = store
        self.sentence = sentence
        self.keys = keys
    }

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

extension ConfigurationKey.Form {
    /// What must be written, as the end of the sentence "must be …".
    package var range: String {
        switch self {
        case .text: "text"
        case .secret: "\"credential:NAME\", \"file:/path\" or \"env:NAME\""
        case .connection: "a libpq connection string, or where one is kept as for every secret"
        case .file: "\"file:/path\""
        case .origin: "https://HOST[:PORT], or http:// for a simulator, which is not encrypted"
        case .address: "https://HOST[:PORT]/PATH, or http:// for a simulator, not encrypted"
        case .listen: "an IP address and a port, such as \"127.0.0.1:9464\" or \"[::1]:9464\""
        case .choice(let words): Self.alternatives(words)
        case .onOff: Self.alternatives(["on", "off"])
        case .boolean: "true or false"
        case .integer(let range): "between \(range.lowerBound) and \(range.upperBound)"
        case .number(let range):
            "between \(TOMLNode.number(range.lowerBound).literal)"
                + " and \(TOMLNode.number(range.upperBound).literal)"
        case .duration(let range):
            "between \(ISODuration.text(range.lowerBound))"
                + " and \(ISODuration.text(range.upperBound))"
        case .list: "a list of strings"
        }
    }

    private static func alternatives(_ words: [String]) -> String {
        let quoted = words.map { "\"\($0)\"" }
        return quoted.dropLast().joined(separator: ", ") + " or " + (quoted.last ?? "")
    }
}

extension ConfigurationKey.Literal {
    var node: TOMLNode {
        switch self {
        case .string(let text): .string(text)
        case .integer(let value): .integer(value)
        case .boolean(let value): .boolean(value)
        case .list(let words): .array(words.map { .string($0) })
        }
    }
}
