import ArgumentParser
import Daemon
import Explain
import Ledger
import Renewal
import Sockets

struct WhatIfCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "what-if",
        abstract: "Shows what another configuration would change for the whole fleet.",
        discussion: """
            Decides about every purchase again, by the policy and the products of the file given \
            with --config, from what was heard of it last. Counts users and entitlements. Asks no \
            store, changes nothing, and works beside a running daemon or on a standby.

            Example: renewald what-if --config /etc/renewald/next.toml
            """)

    @OptionGroup var common: CommonOptions
    @Flag(help: "Print JSON.")
    var json = false

    mutating func run() async throws {
        let json = self.json
        try await common.withServices(asksStores: false) { services in
            let difference = try await WhatIf(services.ledger, under: services.rules).run()
            let text = DifferenceText(difference)
            text.notes.forEach(Console.complain)
            if json {
                try Console.say(json: DifferenceJSON(difference).line())
            } else {
                try Console.say(lines: text.lines(wouldChange: true))
            }
        }
    }
}

/// A difference, for people.
struct DifferenceText {
    private let difference: Difference

    init(_ difference: Difference) {
        self.difference = difference
    }

    /// What cannot be said.
    var notes: [String] {
        var notes: [String] = []
        if difference.unknown > 0 {
            let skipped = count(difference.unknown, "purchase")
            notes.append(
                "\(skipped) skipped: no answer is kept for how they stand now. The next check of "
                    + "each applies the rules")
        }
        if difference.sharing > 0 {
            let users = count(difference.sharing, "user")
            notes.append(
                "\(users) beside the counted ones: the store is asked about what they have handed "
                    + "in too, and they gain with its answer ([policy] shared)")
        }
        return notes
    }

    func lines(wouldChange: Bool) -> [String] {
        let (would, changed) = (wouldChange ? "would change" : "changed", difference.changed)
        guard changed > 0 else {
            return ["\(difference.purchases) purchases; nothing \(would)"]
        }
        var lines = ["\(difference.purchases) purchases; \(changed) \(would)"]
        lines += rows("gain", difference.gain) + rows("lose", difference.lose)
        for (reason, count) in difference.reasons {
            lines.append("  because  \(reason): \(count)")
        }
        if difference.reasons.isEmpty { lines.append("  no user gains or loses anything") }
        return lines
    }

    private func rows(_ word: String, _ counts: [EntitlementID: Int]) -> [String] {
        counts.sorted { $0.key < $1.key }.map { entitlement, count in
            "  \(word)     \(entitlement): \(count) \(count == 1 ? "user" : "users")"
        }
    }
}
