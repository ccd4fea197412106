import Ledger
import Renewal

/// Judges whether all who decide do so by the same products and policy.
enum RulesCheck {
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
