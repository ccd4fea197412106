import Postgres
package import Renewal

/// Two sets of rules by which purchases of one app were decided in turn: workers, or commands, have
/// different configurations, and what one gives the other takes.
package struct ClashingRules: Hashable, Sendable {
    /// What the two do not have in common.
    package enum Difference: Hashable, Sendable {
        case product(ProductID)
        /// A key of `[policy]`.
        case policy(String)
    }

    package let app: AppKey
    /// Ten at most.
    package var differences: [Difference]

    package init(app: AppKey, differences: [Difference]) {
        self.app = app
        self.differences = differences
    }
}

extension PostgresLedger {
    /// Those that decided in turn for an hour or longer, within a day: rules that have replaced
    /// others at a reload, or during a roll-out, are not among them.
    package func clashingRules() async throws(LedgerError) -> [ClashingRules] {
        try await attempt {
            var clashes: [ClashingRules] = []
            for row in try await self.reads.query(SQL.clashingRules()).rows {
                let (app, name) = (try row.app(), try row.text("name"))
                if clashes.last?.app != app {
                    clashes.append(ClashingRules(app: app, differences: []))
                }
                clashes[clashes.count - 1].differences.append(
                    try row.bool("is_product") ? .product(ProductID(name)) : .policy(name))
            }
            return clashes
        }
    }
}
