import Renewal

/// `[policy]`.
package struct PolicyKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "policy", "What the operator decides about access.")

    let grace = PolicyKey(
        "grace", .choice, \.grace, "Access while payment has failed and the store gives grace.")
    let paymentPending = PolicyKey(
        "payment_pending", .choice, \.paymentPending,
        "Access while Google says that payment is pending and still extends.")
    let leniency = PolicyKey(
        "leniency", .duration(.zero ... .days(30)), \.leniency,
        "Extra time before `expired` or `cancelled` revokes.")
    let sandbox = PolicyKey(
        "sandbox", .choice, \.sandbox,
        "Whether sandbox purchases (app review and testers use them) grant.")
    let offers = PolicyKey(
        "offers", .onOff, \.keepsOffers,
        """
        Whether renewald.offers is kept. For Apple this costs one history read for each new
        subscription.
        """)
    let refund = PolicyKey(
        "refund", .choice, \.refund,
        "When a refunded purchase loses access: at once, or when its paid period ends.")
    let shared = PolicyKey(
        "shared", .choice, \.shared,
        """
        A token submitted for a second user: keep it with the first, move it to the latest,
        or allow it for both.
        """)
}

/// `[safety]`.
package struct SafetyKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "safety", "What keeps a wrong answer from taking access away.")

    let confirmAfter = PolicyKey(
        "confirm_after", .duration(.seconds(1) ... .days(7)), \.confirmAfter,
        """
        Least time before the second opinion on ambiguous bad news; ten minutes at most for
        what never was granted.
        """)
    let successorWait = PolicyKey(
        "successor_wait", .duration(.zero ... .days(7)), \.successorWait,
        """
        How long a replaced purchase keeps access while its successor has not been
        submitted.
        """)
    let maxStaleness = PolicyKey(
        "max_staleness", .duration(.minutes(1) ... .days(3650)), \.maxStaleness,
        """
        When the store was asked in vain for this long, and the paid time is over, access
        ends. The time in which nobody asked does not count.
        """)
    package let breaker = Key(
        "breaker", .onOff, default: true, .restart,
        """
        Whether an avalanche of revocations is held until a person lets it go. It has no
        effect yet: nothing is held, and the start of the daemon and doctor say so.
        """)
}

/// A key that is a field of the core's policy: its default is the core's, and it holds from a
/// reload on.
struct PolicyKey<Value: Sendable>: DescribedKey, PolicyFilling {
    private let typed: Key<Value>
    private let field: any WritableKeyPath<Policy, Value> & Sendable

    init(
        _ name: String, _ kind: KeyKind<Value>,
        _ field: any WritableKeyPath<Policy, Value> & Sendable, _ sentence: String
    ) {
        typed = Key(name, kind, default: Policy()[keyPath: field], .live, sentence)
        self.field = field
    }

    var key: ConfigurationKey { typed.key }

    func fill(_ policy: inout Policy, from values: TableValues<some KeyGroup>) {
        policy[keyPath: field] = values.value(of: typed)
    }
}

protocol PolicyFilling {
    func fill(_ policy: inout Policy, from values: TableValues<some KeyGroup>)
}

extension Policy {
    /// Takes what is written in a table of which some keys are fields of the policy.
    mutating func take<Keys: KeyGroup>(_ values: TableValues<Keys>) {
        for child in Mirror(reflecting: Keys()).children {
            (child.value as? any PolicyFilling)?.fill(&self, from: values)
        }
    }
}
