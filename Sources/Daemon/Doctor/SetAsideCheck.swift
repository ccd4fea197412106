import Ledger
import Renewal

/// Judges whether purchases are set aside: nobody checks them until a person has acted, and their
/// access stays as it is.
enum SetAsideCheck {
    static func findings(_ problems: [QueueStatus.ProblemCount]) -> [Finding] {
        let met = problems.filter { $0.code == .setAside }
        guard !met.isEmpty else { return [] }
        let apps = met.map { "\($0.app.store.rawValue) \($0.app.id): \($0.purchases)" }
        return [
            .note(
                "purchases",
                "set aside, and not checked any more: \(apps.joined(separator: ", ")): their rows "
                    + "cannot be read, or checking them has crashed the process",
                do: "look at each: SELECT id, user_id, problem FROM renewald.purchases WHERE "
                    + "problem LIKE 'set_aside:%'; mend the row or report the crash, then run "
                    + "`renewald check USER`, or let the app submit the purchase again")
        ]
    }
}
