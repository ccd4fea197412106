package import Renewal

/// `[refunds]`.
package struct RefundKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "refunds",
        """
        What to answer when a store asks about a refund (Apple, Google). Each question is an
        event, whatever is set here.
        """)

    package let answer = Key(
        "answer", .choice, default: RefundRule().answering, .live,
        """
        "off": nothing is sent, and renewald.answer_refund() raises an error. "app": only what
        renewald.answer_refund() says. "policy": what the policy says, unless the app has answered
        first.
        """)
    package let policy = Key(
        "policy", .choice, default: RefundRule().policy, .live,
        """
        With answer = "policy": what is asked for. Google takes prorate as grant; Apple is given
        the facts alone for neutral.
        """)
    package let wait = Key(
        "wait", .duration(.zero ... .hours(24)), default: RefundRule().wait, .live,
        """
        With answer = "policy": how long the app may answer first. The policy answers three hours
        before the deadline at the latest.
        """)
    package let customerConsented = Key(
        "customer_consented", .boolean, default: RefundRule().isConsented, .live,
        """
        Apple: your terms have the customer's consent that Apple is told. Without it, and without
        customer_consented => true in answer_refund(), nothing is sent to Apple.
        """)
}

extension TableValues<RefundKeys> {
    package var rule: RefundRule {
        var rule = RefundRule()
        rule.answering = self.answer
        rule.policy = self.policy
        rule.wait = self.wait
        rule.isConsented = self.customerConsented
        return rule
    }
}
