package import Postgres

/// In tests a code stands as itself, so that a wrong one behind a name is found.
extension SQLState: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) {
        self.init(rawValue: value)
    }
}
