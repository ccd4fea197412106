import Ledger
import Renewal
import TestSupport

// What happened, in the words of the tables.
extension Stage.Heard {
    /// What is seen, state and access, what is told, when it is asked next.
    var cells: [String] {
        let asks = outcome.schedule.nextCheckAt
        return [
            seen, "\(outcome.facts.state.rawValue) \(outcome.facts.access.rawValue)", told,
            asks == .never ? "never" : TestCalendar.roughly(asks - at),
        ]
    }

    private var seen: String {
        switch answer {
        case .verdict(let observation): observation.summary(knownAs: product)
        case .contested(let contested):
            "contested: " + contested.observation.summary(knownAs: product)
        case .doubt(let doubt): "doubt: \(doubt.rawValue)"
        case .failure(let failure): failure.summary
        }
    }

    /// What the event tells beside its columns and the store's words, where the case is about it:
    /// `(region=DE,price=7.99)`.
    private func details(of event: Event) -> String {
        guard showsDetails else { return "" }
        let members = event.detail.members.filter { $0.name != "heard" }
            .map { "\($0)=\($1.replacing("\"", with: ""))" }
        return members.isEmpty ? "" : "(" + members.joined(separator: ",") + ")"
    }

    /// `+` is a grant, `-` a revoke, `!` the problem, the rest are notices. The entitlement is
    /// `plus` unless another is named.
    private var told: String {
        var words = settlement.events.map { event in
            let sign =
                switch event.kind {
                case .grant: "+"
                case .revoke: "-"
                case .notice: ""
                }
            let about = event.entitlement.map { $0 == "plus" ? "" : ":\($0)" } ?? ""
            return sign + event.kind.reason + about + details(of: event)
        }
        if let problem = outcome.schedule.problem { words.append("!" + problem.code.rawValue) }
        return words.isEmpty ? "-" : words.joined(separator: " ")
    }
}

extension StoreFailure {
    /// A code, and what was wrong where it is a field or a thing.
    fileprivate var summary: String {
        switch self {
        case .unreachable: "no answer: unreachable"
        case .throttled(let delay):
            "no answer: throttled" + (delay.map { " " + TestCalendar.roughly($0) } ?? "")
        case .refused: "no answer: refused"
        case .malformed(let field): "no answer: malformed \(field)"
        case .signature: "no answer: signature"
        case .mismatch(let what): "no answer: another \(what)"
        case .rejected: "no answer: rejected"
        case .unsupported: "no answer: unsupported"
        }
    }
}

extension Observation {
    fileprivate func summary(knownAs product: ProductID) -> String {
        var words = [status.summary + times]
        if let items = items(knownAs: product) { words.append(items) }
        if willRenew == true { words.append("renews") }
        if willRenew == false, kind == .autoRenewable { words.append("off") }
        if case .until(let end, let renewsNext)? = commitment {
            words.append(
                "committed to " + TestCalendar.text(end) + (renewsNext == true ? ", owed" : ""))
        }
        if let phase, phase != .regular { words.append(phase.rawValue) }
        if kind != .autoRenewable { words.append(kind.rawValue) }
        if environment == .sandbox { words.append("sandbox") }
        words += signals.map(\.rawValue).sorted()
        if usedIntroductory == true, phase == .regular { words.append("offer used") }
        if let token = predecessorToken { words.append("after \(token.text)") }
        if nextToken != nil { words.append(isMigrated ? "moved to its id" : "newer receipt") }
        if awaitsAcknowledgement { words.append("to be acknowledged") }
        return words.joined(separator: ", ")
    }

    private var times: String {
        let end = expiresAt.map { " to \(TestCalendar.text($0))" } ?? ""
        guard let paidThrough, paidThrough != expiresAt else { return end }
        return " paid \(TestCalendar.text(paidThrough))" + end
    }

    /// The products, where there is more to say than that it is the known one.
    private func items(knownAs product: ProductID) -> String? {
        guard items.map(\.names) != [[product]] else { return nil }
        let texts = items.map { item in
            let name = item.names.map(\.text).joined(separator: "/")
            guard items.count > 1, let end = item.expiresAt else { return name }
            return name + " " + TestCalendar.text(end)
        }
        return texts.isEmpty ? "no product" : texts.joined(separator: " + ")
    }
}

extension SubscriptionStatus {
    fileprivate var summary: String {
        func day(_ at: Timestamp?) -> String { at.map { " on " + TestCalendar.text($0) } ?? "" }
        return switch self {
        case .pending: "pending"
        case .active: "active"
        case .grace(let moved): moved ? "grace, moved unpaid" : "grace"
        case .hold: "hold"
        case .paused(let until):
            "paused" + (until.map { " until " + TestCalendar.text($0) } ?? "")
        case .ended(.periodEnded, _): "ended"
        case .ended(.userCancelled, _): "ended by the user"
        case .ended(.paymentFailed, _): "ended unpaid"
        case .ended(.priceIncreaseDeclined, _): "ended, price declined"
        case .ended(.productUnavailable, _): "ended, no longer sold"
        case .refunded(let at): "refunded" + day(at)
        case .removedFromFamily(let at): "family removed" + day(at)
        case .replaced(let at): "replaced" + day(at)
        }
    }
}
