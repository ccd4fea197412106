import Explain
import Daemon
import Ledger
import Renewal

/// What `renewald check` shows a person: for each purchase what was asked, what was heard, what
/// changed and why.
struct CheckText {
    let user: UserID
    let isDryRun: Bool
    let checked: CheckedUser

    var lines: [String] {
        guard !checked.isUnknown else { return ["\(user): no purchases"] }
        let purchases =
            checked.purchases.count + checked.unreadable.count + checked.contested.count
            + checked.left.count
        var lines = ["\(user): \(count(purchases, "purchase"))"]
        for one in checked.purchases { lines += rows(of: one) }
        for one in checked.unreadable {
            lines += ["", "purchase \(one.id): \(one.title)"]
            lines += [row("problem", "\(one.problem)")]
        }
        for (claim, rule) in checked.undone {
            lines += ["", "purchase \(claim.purchaseID): \(claim.purchase.facts.product)"]
            lines += [row("rule", rule)]
        }
        if isDryRun { lines.append("Nothing was written (--dry-run).") }
        return lines
    }

    private func rows(of one: CheckedPurchase) -> [String] {
        let purchase = one.claim.purchase
        var lines = [
            "",
            "purchase \(purchase.id): \(one.facts.product)",
            row("app", "\(purchase.app.store.rawValue) \(purchase.app.id)"),
        ]
        lines += owner(of: one)
        lines += [
            row("asked", Self.asked(one.call.calls)),
            row("heard", one.call.answer.words),
            row("rule", one.outcome.rule),
            row("state", change(purchase.facts.state.rawValue, one.facts.state.rawValue)),
            row("access", change(access(purchase.facts), access(one.facts))),
        ]
        if one.events.isEmpty { lines.append(row("events", "none")) }
        for event in one.events {
            lines.append(
                row(
                    "event",
                    [event.kind.name, event.entitlement?.text, event.kind.reason]
                        .compactMap { $0 }.joined(separator: " ")
                        + (event.userID == user ? "" : ", for \(event.userID)")))
        }
        let standing = one.outcome.standing(after: one.call.answer)
        if let problem = standing.problem { lines.append(row("problem", problem)) }
        let next = standing.nextCheckAt?.text ?? (standing.waitsFor == nil ? "never" : nil)
        lines.append(
            row("next", [next, standing.waitsFor].compactMap { $0 }.joined(separator: ", ")))
        return lines
    }

    /// Whose it is, where the one who is asked about has handed it in after another.
    private func owner(of one: CheckedPurchase) -> [String] {
        let purchase = one.claim.purchase
        if case .handed(let heir, _) = one.outcome.decision {
            return [row("of", change("\(purchase.userID)", "\(heir)"))]
        }
        guard purchase.userID != user else { return [] }
        if case .shared = one.outcome.decision {
            return [row("of", "\(purchase.userID), and \(user) gets one of their own")]
        }
        let claimed = Explanation.Claimed(purchase, for: user)
        return [row("of", claimed.situation), row("", claimed.chances)]
    }

    private func row(_ name: String, _ text: String) -> String {
        "  " + name + String(repeating: " ", count: max(1, 9 - name.count)) + text
    }

    private func change(_ before: String, _ after: String) -> String {
        before == after ? after : "\(before) -> \(after)"
    }

    private func access(_ facts: Facts) -> String {
        guard facts.access == .granted else { return facts.access.rawValue }
        return facts.expiresAt.map { "granted until \($0.text)" } ?? "granted"
    }

    /// Such as `Get All Subscription Statuses, production: 200`.
    private static func asked(_ calls: [StoreCall]) -> String {
        guard !calls.isEmpty else { return "nothing" }
        return calls.map { call in
            "\(call.name): \(call.status.map(String.init) ?? "no reply")"
        }.joined(separator: "; ")
    }
}

extension CheckedUser {
    /// Those of which nothing was written, each with what is shown instead of a rule of judgement.
    var undone: [(claim: Claim, rule: String)] {
        contested.map { ($0, trouble == nil ? $0.contestedRule : $0.unstoredRule) }
            + left.map { ($0, $0.leftRule) }
    }
}
