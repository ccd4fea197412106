// A policy by its words: how it is kept, so that a decision of then can be made again.

/// One choice of the policy, by its name in the configuration.
private struct PolicyWord: Sendable {
    let name: String
    let read: @Sendable (Policy) -> String
    /// Whether the text made sense.
    let write: @Sendable (String, inout Policy) -> Bool

    static let all: [PolicyWord] = [
        choice("grace", { $0.grace }) { $0.grace = $1 },
        choice("payment_pending", { $0.paymentPending }) { $0.paymentPending = $1 },
        duration("leniency", { $0.leniency }) { $0.leniency = $1 },
        choice("sandbox", { $0.sandbox }) { $0.sandbox = $1 },
        choice("refund", { $0.refund }) { $0.refund = $1 },
        choice("shared", { $0.shared }) { $0.shared = $1 },
        value("offers", { $0.keepsOffers }) { $0.keepsOffers = $1 },
        duration("confirm_after", { $0.confirmAfter }) { $0.confirmAfter = $1 },
        duration("successor_wait", { $0.successorWait }) { $0.successorWait = $1 },
        duration("max_staleness", { $0.maxStaleness }) { $0.maxStaleness = $1 },
        value("breaker", { $0.breaker.isOn }) { $0.breaker.isOn = $1 },
        value("breaker_floor", { $0.breaker.floor }) { $0.breaker.floor = $1 },
        duration("breaker_window", { $0.breaker.window }) { $0.breaker.window = $1 },
        value("breaker_factor", { $0.breaker.factor }) { $0.breaker.factor = $1 },
        value("breaker_share", { $0.breaker.share }) { $0.breaker.share = $1 },
        choice("breaker_release", { $0.breaker.release }) { $0.breaker.release = $1 },
    ]

    private static func value<Value: LosslessStringConvertible & Sendable>(
        _ name: String, _ get: @escaping @Sendable (Policy) -> Value,
        _ set: @escaping @Sendable (inout Policy, Value) -> Void
    ) -> PolicyWord {
        PolicyWord(name: name, read: { get($0).description }) { text, policy in
            guard let value = Value(text) else { return false }
            set(&policy, value)
            return true
        }
    }

    private static func choice<Choice: RawRepresentable<String> & Sendable>(
        _ name: String, _ get: @escaping @Sendable (Policy) -> Choice,
        _ set: @escaping @Sendable (inout Policy, Choice) -> Void
    ) -> PolicyWord {
        PolicyWord(name: name, read: { get($0).rawValue }) { text, policy in
            guard let choice = Choice(rawValue: text) else { return false }
            set(&policy, choice)
            return true
        }
    }

    /// In microseconds.
    private static func duration(
        _ name: String, _ get: @escaping @Sendable (Policy) -> Duration,
        _ set: @escaping @Sendable (inout Policy, Duration) -> Void
    ) -> PolicyWord {
        value(name, { get($0).microseconds }) { set(&$0, .microseconds($1)) }
    }
}

extension Policy {
    /// Each choice by its name; durations in microseconds.
    package var words: [(name: String, value: String)] {
        PolicyWord.all.map { ($0.name, $0.read(self)) }
    }

    /// Reads what `words` has written. What is missing is as it was before it could be chosen: its
    /// default.
    ///
    /// - Returns: nil for a word of a later program: what was decided by that is not known here.
    package init?(words: [(name: String, value: String)]) {
        self.init()
        for (name, value) in words {
            guard let word = PolicyWord.all.first(where: { $0.name == name }),
                word.write(value, &self)
            else { return nil }
        }
    }
}
