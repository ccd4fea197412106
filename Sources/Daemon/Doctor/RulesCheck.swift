import Ledger
import Renewal

/// Judges whether all who decide do so by the same products and policy, and for the same apps.
enum RulesCheck {
    /// Those of the apps that not all workers have configured.
    static func findings(uneven apps: [UnevenApp]) -> [Finding] {
        apps.map { app in
            let names = app.without.prefix(5).joined(separator: ", ")
            let rest = app.without.count > 5 ? " and \(app.without.count - 5) more" : ""
            return .note(
                "workers",
                "\(app.app.name) is not configured for \(names)\(rest), and is for others: they "
                    + "take turns, and its checks come later",
                do: "give all machines on which renewald runs the same configuration, and reload")
        }
    }

    static func findings(_ clashes: [ClashingRules]) -> [Finding] {
        clashes.map { clash in
            let differences = clash.differences.map { difference in
                switch difference {
                case .product(let id): "[[product]] \(id)"
                case .policy(let key): "[policy] \(key)"
                }
            }
            return .note(
                "policy",
                "\(clash.app.store.rawValue) \(clash.app.id): two configurations have decided in "
                    + "turn today, for over an hour: access may go back and forth. They differ in "
                    + differences.joined(separator: ", "),
                do: "give all machines on which renewald runs the same configuration, and reload")
        }
    }
}
