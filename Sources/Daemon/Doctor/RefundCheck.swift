import Configuration
package import Ledger
package import Renewal

/// Looks whether stores ask about refunds without ever getting an answer.
package enum RefundCheck {
    /// - Returns: none before the first question.
    package static func findings(_ refunds: [RefundStatus], under rule: RefundRule) -> [Finding] {
        let asking = refunds.filter { $0.asked > 0 }
        guard !asking.isEmpty else { return [] }
        if rule.answering == .off {
            let apps = asking.map { "\($0.app.store.rawValue) \($0.app.id)" }
            return [
                .note(
                    "refunds",
                    "\(apps.joined(separator: ", ")) asks about refunds, and [refunds] answer = "
                        + "\"off\": nothing is answered",
                    do: "set answer = \"app\" and call renewald.answer_refund(), or set answer = "
                        + "\"policy\"")
            ]
        }
        if rule.answering == .policy, !rule.isConsented,
            let store = asking.map(\.app.store).first(where: \.traits.wantsConsent)
        {
            return [
                .note(
                    "refunds",
                    "\(store.traits.vendor) asks about refunds, and the policy answers nothing: "
                        + "the customer's consent is missing",
                    do: "set [refunds] customer_consented = true if your terms have it, or answer "
                        + "with customer_consented => true")
            ]
        }
        let open = asking.map(\.open).reduce(0, +)
        return [.ok("refunds", "\(open) open refund requests")]
    }
}
