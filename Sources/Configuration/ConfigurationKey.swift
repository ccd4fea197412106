/// One key of the configuration, described once: what is read and refused, what `etc/renewald.toml`
/// says, and what a reload changes, all come from here.
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
        /// Several secrets.
        case secrets
    }

    /// What holds when nothing is written.
    package enum Presence: Hashable, Sendable {
        /// A TOML literal's value.
        case byDefault(Literal)
        /// Nothing; the text says what that means, after the word "default:".
        case optional(meaning: String, example: Literal)
        case required(example: Literal)
    }

    package enum Literal: Hashable, Sendable, ExpressibleByStringLiteral {
        case string(String)
        case integer(Int)
        case number(Double)
        case boolean(Bool)
        case list([String])

        package init(stringLiteral text: String) { self = .string(text) }
    }

    /// From when on a changed value holds.
    package enum Effect: Hashable, Sendable {
        /// A reload.
        case live
        /// A restart.
        case restart
    }

    package let name: String
    package let form: Form
    package let presence: Presence
    package let effect: Effect
    /// What the key does, with its unit; lines of `etc/renewald.toml`.
    package let sentence: String
}
