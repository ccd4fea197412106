import Ledger
import Renewal

/// Judges how far two clocks are apart.
enum ClockCheck {
    /// What a network's delay and whole seconds cannot explain.
    static let noticeable = Duration.seconds(5)
    /// From here on stores refuse signed requests as being of the future or too old.
    static let harmful = Duration.seconds(60)

    /// - Parameters:
    ///   - other: whose clock it is, such as `the database`.
    ///   - skew: how far it is ahead of this machine's.
    /// - Returns: wrong where stores would refuse signed requests.
    static func finding(_ other: String, skew: Duration) -> Finding {
        let apart = skew < .zero ? .zero - skew : skew
        guard apart > noticeable else {
            return .ok("clock", "this machine and \(other) agree")
        }
        let side = skew < .zero ? "ahead of" : "behind"
        let sentence = "this machine is \(apart.roughly) \(side) \(other)"
        let advice =
            "let both follow a time server, with chrony or systemd-timesyncd; `timedatectl` "
            + "shows whether they do"
        return apart > harmful
            ? .wrong("clock", sentence, do: advice) : .note("clock", sentence, do: advice)
    }

    /// What purchases tell whose last answer came from a store with another time than the
    /// database's (design rule 12): their ends wait for both clocks, and nothing stands still.
    static func finding(_ problems: [QueueStatus.ProblemCount]) -> Finding {
        let met = problems.filter { $0.code == .clock }
        guard !met.isEmpty else { return .ok("clock", "no purchase has the problem `clock`") }
        let apps = met.map { "\($0.app.store.rawValue) \($0.app.id): \($0.purchases)" }
        return .note(
            "clock",
            "purchases with the problem `clock`: \(apps.joined(separator: ", ")): at their "
                + "last check the database's time and the store's differed by more than a minute; "
                + "access ends when both clocks have passed its end",
            do: "correct the clock of the database's machine (`timedatectl` shows it there); the "
                + "number falls with the next checks")
    }
}
