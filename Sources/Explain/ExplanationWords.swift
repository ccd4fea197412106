import Ledger
import Renewal

/// What is said of an entitlement, on paper and on a terminal alike.
struct HeldWords {
    private let held: Explanation.Held
    private var entitlement: Entitlement { held.entitlement }

    init(_ held: Explanation.Held) { self.held = held }

    /// Such as `holds pro until 2026-12-21 10:31:05 UTC`.
    var headline: String {
        guard entitlement.active else {
            guard let since = held.since else { return "does not hold \(entitlement.entitlement)" }
            return "does not hold \(entitlement.entitlement), since \(since.createdAt.reading)"
        }
        let end = entitlement.expiresAt.map { "until \($0.reading)" } ?? "for ever"
        return "holds \(entitlement.entitlement) \(end)"
    }

    /// Why it is so, a sentence each.
    var reasons: [String] {
        let meaning = ReasonTexts.meaning(
            of: entitlement.reason, kind: entitlement.active ? "grant" : "revoke")
        var lines = [
            [entitlement.reason, meaning].compactMap { $0 }.joined(separator: ": ")
                + "; by purchase \(entitlement.purchaseID), \(entitlement.product)"
        ]
        if entitlement.active, let since = held.since {
            lines.append("granted \(since.createdAt.reading)")
        }
        if entitlement.active, entitlement.inGrace {
            lines.append("the payment failed; the store keeps access on")
        } else if entitlement.active, entitlement.expiresAt != nil,
            let renews = entitlement.willRenew
        {
            lines.append(renews ? "renews by itself" : "will not renew: renewal is turned off")
        }
        if !entitlement.active, let since = held.since, since.endedEarlier {
            lines.append("the store says that it ended \(since.effectiveAt.reading)")
        }
        if !entitlement.active, let check = held.check {
            lines.append(
                "\(entitlement.store.name) said then: \(check.evidence.heard)")
        }
        return lines
    }
}

extension StoredEvent {
    /// Whether it took effect before it was told, by a second or more.
    fileprivate var endedEarlier: Bool { effectiveAt.reading != createdAt.reading }
}

/// One line about something: its name and what is to say.
struct NamedRow: Hashable, Sendable {
    let name: String
    let text: String
    /// Less important than the others.
    var isAside = false
}

/// What is said of a purchase as it stands.
struct PurchaseWords {
    private let purchase: Explanation.Purchase
    private var facts: Facts { purchase.facts }

    init(_ purchase: Explanation.Purchase) { self.purchase = purchase }

    /// Such as `monthly, google com.example.reader, production`.
    var title: String {
        let place = "\(purchase.app.store.rawValue) \(purchase.app.id)"
        return [facts.product.text, place, facts.environment?.rawValue].compactMap { $0 }
            .joined(separator: ", ")
    }

    var rows: [NamedRow] {
        var rows = [NamedRow(name: "now", text: situation)]
        if let order = facts.orderID {
            let original = facts.originalID.flatMap { $0 == order ? nil : " (original \($0))" }
            rows.append(NamedRow(name: "order", text: order.text + (original ?? "")))
        } else if let original = facts.originalID {
            rows.append(NamedRow(name: "order", text: original.text))
        }
        rows.append(NamedRow(name: "submitted", text: purchase.submittedAt.reading))
        if let account { rows.append(NamedRow(name: "account", text: account)) }
        if let problem = purchase.problem {
            rows.append(NamedRow(name: "problem", text: problem))
        }
        rows += purchase.refunds.map { NamedRow(name: "refund", text: $0.sentence) }
        if let evidence { rows.append(NamedRow(name: "evidence", text: evidence)) }
        return rows
    }

    /// Whom the app has named to the store, which is often a digest of the user's id.
    private var account: String? {
        facts.accountToken.map { token in
            let whose = namesUser(token, purchase.userID) ? " (this user)" : ""
            return "\(token)\(whose), named to the store by the app"
        }
    }

    private var situation: String {
        let meaning = facts.state.meaning.map { " (\($0))" } ?? ""
        var words = [facts.state.rawValue + meaning, access]
        if let paid = facts.paidThrough, facts.access == .none || paid != facts.expiresAt {
            words.append("paid through \(paid.reading)")
        }
        if facts.access == .granted, let renewal { words.append(renewal) }
        return words.joined(separator: ", ")
    }

    private var renewal: String? {
        guard let renews = facts.autoRenew else { return nil }
        guard let end = facts.commitmentEndsAt, facts.willRenew == true else {
            return renews ? "renews by itself" : "will not renew"
        }
        let after = renews ? "and renews after it" : "and cancelled for then"
        return "committed until \(end.reading), \(after)"
    }

    private var access: String {
        switch facts.access {
        case .granted: facts.expiresAt.map { "access until \($0.reading)" } ?? "access"
        case .none: "no access"
        case .held:
            facts.heldSince.map { "access: decided to revoke, held since \($0.reading)" }
                ?? "access: its revoke is held"
        }
    }

    /// Where the chain begins, when that is not the first check.
    private var evidence: String? {
        guard purchase.beginsLate else {
            return purchase.steps.isEmpty ? "none yet: never checked" : nil
        }
        guard let since = purchase.evidenceSince else { return "no check is kept any more" }
        return "begins \(since.reading); earlier checks have been dropped"
    }
}

extension [Explanation.Step] {
    /// What is said of the steps of one of the user's purchases, in their order.
    func words(of user: UserID) -> [(step: Explanation.Step, words: StepWords)] {
        let before = [nil] + dropLast().map(Optional.some)
        return zip(self, before).map { ($0, StepWords($0, of: user, after: $1)) }
    }
}

extension Explanation.Transferred {
    /// Such as `monthly, google com.example.reader`.
    var title: String { "\(product), \(store) \(app)" }
    static let situation = "it belongs to another user now"
}

/// What is said of a step of a chain.
struct StepWords {
    private let step: Explanation.Step
    private let user: UserID?
    private let orderBefore: OrderID?

    /// Digits of a digest that are enough to recognise it.
    private static let digestDigits = 12

    /// What has not changed since the step before is not said again; whose it was is said where
    /// that is not the user.
    init(
        _ step: Explanation.Step, of user: UserID? = nil, after previous: Explanation.Step? = nil
    ) {
        self.step = step
        self.user = user
        orderBefore = previous?.check?.orderID
    }

    /// Such as `active -> expired, access granted -> none`.
    var headline: String {
        guard let check = step.check else {
            return step.isAboutRefunds ? "news of the store" : "the check is not kept"
        }
        let change =
            "\(Self.change(check.stateBefore, check.state)), access "
            + Self.change(check.accessBefore, check.access)
        return switch check.evidence.kind {
        case .verdict: change
        case .doubt: "bad news, to be confirmed; \(change)"
        case .failure: "no verdict; \(change)"
        }
    }

    var rows: [NamedRow] {
        var rows: [NamedRow] = []
        if let check = step.check {
            if let user, check.userID != user {
                rows.append(NamedRow(name: "user", text: "\(check.userID), who had it then"))
            }
            rows += check.evidence.calls.map { NamedRow(name: "asked", text: Self.asked($0)) }
            rows.append(NamedRow(name: "heard", text: check.evidence.heard))
            rows.append(NamedRow(name: "rule", text: check.rule))
            if check.access == Access.granted.rawValue, let end = check.expiresAt {
                rows.append(NamedRow(name: "until", text: until(end, check)))
            }
            if let order = check.orderID, order != orderBefore {
                rows.append(NamedRow(name: "order", text: order.text, isAside: true))
            }
            if let problem = check.problem {
                rows.append(NamedRow(name: "problem", text: problem))
            }
        }
        rows += step.events.map { NamedRow(name: "event", text: text(of: $0)) }
        if let check = step.check {
            let then = check.nextCheckAt.map { "asked again around \($0.reading)" }
            rows.append(NamedRow(name: "then", text: then ?? "not asked again", isAside: true))
        }
        return rows
    }

    private func until(_ end: Timestamp, _ check: StoredEvidence) -> String {
        guard let paid = check.paidThrough, paid != end else { return end.reading }
        return "\(end.reading), paid through \(paid.reading)"
    }

    /// Such as `grant pro (event 17): purchased, bought for the first time`.
    func text(of event: StoredEvent) -> String {
        let told = [event.kind, event.entitlement?.text].compactMap { $0 }.joined(separator: " ")
        let other = event.userID.flatMap { owner in
            (user ?? step.check?.userID).flatMap { $0 == owner ? nil : owner }
        }
        let reason = [event.reason, ReasonTexts.meaning(of: event.reason, kind: event.kind)]
            .compactMap { $0 }.joined(separator: ": ")
        let since =
            event.kind == "revoke" && event.endedEarlier
            ? "; ended \(event.effectiveAt.reading)" : ""
        return "\(told) \(reason)\(since)\(other.map { ", for \($0)" } ?? "") (#\(event.id))"
    }

    /// Such as `purchases.subscriptionsv2.get: 200, 812 bytes, sha256 9f86d081884c…`.
    static func asked(_ call: Evidence.Call) -> String {
        guard let status = call.status else { return "\(call.name): no reply" }
        var words = ["\(call.name): \(status)", "\(call.bytes) bytes"]
        if let digest = call.digest { words.append("sha256 \(digest.prefix(digestDigits))…") }
        if call.raw != nil { words.append("kept whole") }
        return words.joined(separator: ", ")
    }

    static func change(_ before: String, _ after: String) -> String {
        before == after ? after : "\(before) -> \(after)"
    }
}
