import Renewal

/// `[policy]`.
package struct PolicyKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "policy", "Your choices about access.")

    let grace = PolicyKey(
        "grace", .choice, \.grace, "Access while a payment has failed and the store grants grace.")
    let paymentPending = PolicyKey(
        "payment_pending", .choice, \.paymentPending,
        "Access while Google reports a pending payment and still extends the expiry.")
    let leniency = PolicyKey(
        "leniency", .duration(.zero ... .days(30)), \.leniency,
        "Extra time before `expired` or `cancelled` revokes.")
    let sandbox = PolicyKey(
        "sandbox", .choice, \.sandbox,
        "Whether sandbox purchases (app review and testers use them) grant access.")
    let offers = PolicyKey(
        "offers", .onOff, \.keepsOffers,
        """
        Whether to maintain renewald.offers. For Apple this costs one more call for each new
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
        "safety", "Protection against wrong answers.")

    let confirmAfter = PolicyKey(
        "confirm_after", .duration(.seconds(1) ... .days(7)), \.confirmAfter,
        """
        The least time between ambiguous bad news and the second answer that confirms it. At
        most ten minutes for a purchase that was never granted; at least a day where Amazon
        names an end from before the purchase was last seen in force.
        """)
    let successorWait = PolicyKey(
        "successor_wait", .duration(.zero ... .days(7)), \.successorWait,
        """
        How long a replaced purchase keeps access while its successor has not been
        submitted. A submitted one is waited for until its store has told of it, for
        max_staleness at most; one that waited for its payment, for a day.
        """)
    let maxStaleness = PolicyKey(
        "max_staleness", .duration(.minutes(1) ... .days(3650)), \.maxStaleness,
        """
        Access ends when the paid time is over and the store has given no verdict for this
        long. Time in which nobody asked does not count.
        """)
    let breaker = PolicyKey(
        "breaker", .onOff, \.breaker.isOn,
        """
        Whether to hold an avalanche of revocations of an app: what is held keeps its access
        until `renewald release` lets it go.
        """)
    let breakerFloor = PolicyKey(
        "breaker_floor", .integer(1...1_000_000), \.breaker.floor,
        "The breaker never trips at or below so many revocations of an app in breaker_window.")
    let breakerWindow = PolicyKey(
        "breaker_window", .duration(.seconds(1) ... .days(7)), \.breaker.window,
        "The time in which revocations are counted.")
    let breakerFactor = PolicyKey(
        "breaker_factor", .number(1...1000), \.breaker.factor,
        """
        The breaker trips beyond so many times the usual number of revocations in
        breaker_window: the app's own average of the past four weeks.
        """)
    let breakerShare = PolicyKey(
        "breaker_share", .number(0...1), \.breaker.share,
        """
        It also trips beyond this share of the app's purchases in force, but never below
        breaker_floor.
        """)
    let breakerRelease = PolicyKey(
        "breaker_release", .choice, \.breaker.release,
        """
        What lets go what is held: a person with `renewald release`, or also a second
        agreeing answer of the store at least 24 hours later.
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
