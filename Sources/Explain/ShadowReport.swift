package import Ledger
package import Renewal

/// What `renewald shadow` has to say.
package struct ShadowReport: Hashable, Sendable {
    package let run: ShadowRun
    /// The differences that count, by class and cause.
    package let tallies: [ShadowTally]
    /// Users and entitlements that their rows name more than once.
    package let doubled: Int64
    /// The name of the other system.
    package let system: String
    /// This run and those before it, the oldest first.
    package let history: [ShadowRun]

    package init(
        _ run: ShadowRun, _ tallies: [ShadowTally], doubled: Int64, system: String,
        history: [ShadowRun]
    ) {
        self.run = run
        self.tallies = tallies
        self.doubled = doubled
        self.system = system
        self.history = history
    }

    /// Whether any difference counts.
    package var differs: Bool { run.theyGrant + run.weGrant > 0 }

    func causes(of who: ShadowClass) -> [ShadowTally] { tallies.filter { $0.who == who } }
}

/// One difference, as it is listed.
package struct ShadowLine: Hashable, Sendable {
    package let userID: UserID
    package let entitlement: EntitlementID
    package let who: ShadowClass
    package let cause: ShadowCause
    package let isSettled: Bool
    package let since: Timestamp?
    package let firstSeenAt: Timestamp
    package let lastSeenAt: Timestamp

    package init(
        _ finding: ShadowFinding, _ cause: ShadowCause, since: Timestamp?, isSettled: Bool
    ) {
        userID = finding.userID
        entitlement = finding.entitlement
        who = finding.who
        self.cause = cause
        self.isSettled = isSettled
        self.since = since
        firstSeenAt = finding.firstSeenAt
        lastSeenAt = finding.lastSeenAt
    }

    /// The first line of the list.
    package static let header =
        "user_id,entitlement,class,cause,settled,since,first_seen_at,last_seen_at\n"

    /// By https://www.rfc-editor.org/rfc/rfc4180, with its end.
    package var csv: String {
        [
            userID.text, entitlement.text, who.rawValue, cause.rawValue,
            isSettled ? "true" : "false", since?.text ?? "", firstSeenAt.text, lastSeenAt.text,
        ].map(Self.quoted).joined(separator: ",") + "\n"
    }

    private static func quoted(_ field: String) -> String {
        let marks: [Unicode.Scalar] = [",", "\"", "\n", "\r", ";", "\t"]
        let scalars = field.unicodeScalars
        guard scalars.contains(where: marks.contains) || scalars.first == " " else { return field }
        var quoted = "\""
        for scalar in scalars {
            if scalar == "\"" { quoted.append("\"") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}

/// A report in words.
package struct ShadowText: Sendable {
    private let report: ShadowReport

    package init(_ report: ShadowReport) { self.report = report }

    /// Such as `2000 compared: 1950 agree, 50 differ`, and each cause with a sentence.
    package var lines: [String] {
        let run = report.run
        var lines = [summary]
        for who in ShadowClass.allCases {
            let tallies = report.causes(of: who)
            guard !tallies.isEmpty else { continue }
            lines.append("\(Self.title(who)): \(tallies.map(\.count).reduce(0, +))")
            for tally in tallies {
                let cause = Self.padded(tally.cause.rawValue, to: 18)
                lines.append("  \(cause) \(tally.count): \(Self.sentence(tally))")
            }
        }
        if run.unsettled > 0 {
            lines.append("\(run.unsettled) are too new to count: see --settle")
        }
        if run.healed > 0 {
            lines.append("\(run.healed) of earlier runs have healed")
        }
        return lines
    }

    var summary: String {
        let run = report.run
        let differ = run.theyGrant + run.weGrant
        return "\(run.compared) compared: \(run.agree) agree, \(differ) differ"
            + (run.unsettled > 0 ? ", \(run.unsettled) unsettled" : "")
    }

    static func title(_ who: ShadowClass) -> String {
        switch who {
        case .theyGrant: "they grant, and renewald does not"
        case .weGrant: "renewald grants, and they do not"
        }
    }

    private static func padded(_ word: String, to width: Int) -> String {
        word + String(repeating: " ", count: max(width - word.count, 0))
    }

    /// What a manager understands.
    package static func sentence(_ tally: ShadowTally) -> String {
        let one = tally.people == 1
        let who = one ? "1 person" : "\(tally.people) people"
        let (have, are, their) = (one ? "has" : "have", one ? "is" : "are", "their")
        let span = span(tally.age).map { " for \($0)" + (one ? "" : " on average") } ?? ""
        switch (tally.who, tally.cause) {
        case (.theyGrant, .refundUnseen):
            return "\(who) \(have) kept access\(span) after a refund"
        case (.theyGrant, .expiryUnseen):
            return "\(who) \(have) kept access\(span) after the end of what was paid"
        case (.theyGrant, .falseRenewal):
            return "\(who) \(have) access\(span) by a renewal that nobody has paid"
        case (.theyGrant, .grace):
            return
                "\(who) \(have) access\(span) in a grace period that [policy] does not grant"
        case (.theyGrant, .hold):
            return "\(who) \(have) kept access\(span) though \(their) payment has failed or "
                + "is paused"
        case (.theyGrant, .environment):
            return "\(who) \(have) access by a test purchase, which [policy] does not count"
        case (.theyGrant, .productNotMapped):
            return "\(who) \(have) access that no product of \(their)s gives here: "
                + "is a [[product]] missing?"
        case (.theyGrant, .unknownUser):
            return "\(who) \(have) access, and renewald knows no purchase of \(their)s that a "
                + "store knows: import them; of what another user has handed in too, see "
                + "[policy] shared"
        case (.theyGrant, .notYetChecked):
            return "\(who) \(have) access, and no store has answered for them yet"
        case (.theyGrant, .renewalUnseen):
            return "\(who) \(have) access\(span)"
        case (.weGrant, .grace):
            return "\(who) \(have) been locked out\(span) in a grace period of \(their) store"
        case (.weGrant, .hold):
            return "\(who) \(are) granted access as the breaker holds the revoke: renewald release"
        case (.weGrant, .environment):
            return "\(who) \(are) granted access by a test purchase: see [policy] sandbox"
        case (.weGrant, .productNotMapped):
            return "\(who) \(are) granted an entitlement that they do not have at all: "
                + "do both name it alike?"
        case (.weGrant, .renewalUnseen), (.weGrant, .refundUnseen), (.weGrant, .expiryUnseen),
            (.weGrant, .falseRenewal), (.weGrant, .unknownUser), (.weGrant, .notYetChecked):
            return "\(who) \(have) paid, and \(have) been locked out\(span)"
        }
    }

    /// Such as `9 days`; nil where it has just begun, or is known only since now.
    private static func span(_ age: Duration) -> String? {
        let seconds = age.components.seconds
        func of(_ length: Int64, _ noun: String) -> String {
            let count = (seconds + length / 2) / length
            return "\(count) \(noun)\(count == 1 ? "" : "s")"
        }
        return switch seconds {
        case ..<30: nil
        case ..<5400: of(60, "minute")
        case ..<129_600: of(3600, "hour")
        default: of(86_400, "day")
        }
    }
}
