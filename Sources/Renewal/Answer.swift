/// What asking a store came to.
///
/// Only `.verdict` reaches the part of the decision that changes access (design rule 1); `.doubt`
/// does so when it has been heard twice (rule 2); `.failure` never does.
package enum Answer: Hashable, Sendable {
    indirect case verdict(Observation)
    /// Bad news of the purchase's own record that another part of the same answer contradicts, or
    /// that its store may say for a while without meaning it. Counts as the doubt `unproven`; when
    /// a second answer agrees, it is judged as the verdict that it would have been.
    indirect case contested(Contested)
    case doubt(Doubt)
    case failure(StoreFailure)

    /// Whether it says anything of the purchase.
    var isAboutThePurchase: Bool {
        switch self {
        case .verdict, .contested, .doubt: true
        case .failure: false
        }
    }
}

/// An observation whose bad news needs a second opinion. `Observation.asContested` makes it.
package struct Contested: Hashable, Sendable {
    package let observation: Observation

    fileprivate init(_ observation: Observation) {
        self.observation = observation
    }
}

extension Observation {
    /// The answer, when something in it contradicts what was observed: good news is a verdict, and
    /// bad news counts when a second answer confirms it.
    package func asContested() -> Answer {
        switch status {
        case .active, .grace: .verdict(self)
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced:
            .contested(Contested(self))
        }
    }
}

/// Bad news that one answer does not prove.
package enum Doubt: String, Hashable, Sendable, CaseIterable {
    /// The store does not know it: Apple 4040001 and 4040010 in both environments, 21010, an
    /// answer without the transaction.
    case notFound = "not_found"
    /// Google 410: no longer available.
    case gone
    /// Amazon 410: no longer valid, to be treated as cancelled.
    case noLongerValid = "no_longer_valid"
    /// Bad news that does not come from the purchase's own record, or that the record contradicts.
    case unproven
    /// A store refuses the token of a purchase that never was granted. Made by the decision from
    /// `.failure(.rejected)`; a store's own answer is never this.
    case rejected
    /// A store calls it replaced and does not say since when. Made by the decision, so that the
    /// wait for the successor has a beginning; a store's own answer is never this.
    case replaced
    /// The list of voided purchases names it, and the product reads as bought. Made by the
    /// decision, so that a refund once believed is not taken back; a store's own answer is never
    /// this.
    case voided

    var problem: Problem {
        switch self {
        case .unproven:
            Problem(.secondOpinion, "the answer has bad news, perhaps about another purchase")
        case .notFound, .gone, .noLongerValid, .rejected, .replaced, .voided:
            Problem(.notFound, "the store does not know this purchase (\(rawValue))")
        }
    }

    /// Whether it is the second opinion that the first one waited for. All that say in their own
    /// way that the purchase is not there are of one opinion; bad news about it says more than
    /// that, and less is no confirmation.
    func confirms(_ first: Doubt) -> Bool {
        opinion == first.opinion || self == .unproven && first.opinion == .notFound
    }

    private var opinion: Doubt {
        switch self {
        case .notFound, .gone, .noLongerValid, .rejected: .notFound
        case .unproven, .replaced, .voided: self
        }
    }
}

/// No verdict: the store did not tell the state. Sorted by what must be done next.
/// No case ever carries a token, a receipt, a body, an address or a secret.
package enum StoreFailure: Error, Hashable, Sendable {
    /// No usable reply: network, TLS, time-out, 5xx. Try again later.
    case unreachable(reason: String, obstacle: Obstacle? = nil)
    /// The store asked us to slow down. Wait at least this long.
    case throttled(retryAfter: Duration?)
    /// Our credentials were refused. Ask rarely, and tell a person.
    case refused(reason: String, obstacle: Obstacle? = nil)
    /// A reply that cannot be read. `field` says what was wrong with it.
    case malformed(field: String)
    /// A signature or a chain of certificates that does not hold.
    case signature(reason: String)
    /// A reply about another purchase, app or environment.
    case mismatch(what: String)
    /// The store does not accept this token.
    case rejected(reason: String)
    /// Nothing that can be asked with what is configured.
    case unsupported(reason: String)

    /// What is in the way, where a person looks elsewhere than usual.
    package enum Obstacle: Hashable, Sendable {
        /// No authority that we trust has signed the certificate that the store shows.
        case certificate
        /// Google's token endpoint does not accept the service account.
        case serviceAccount
    }
}

/// Why a purchase could not be judged, as `renewald.purchases.problem` shows it: a stable code, a
/// colon and a sentence.
package struct Problem: Hashable, Sendable, CustomStringConvertible {
    package let code: Code
    package let sentence: String

    package enum Code: String, Hashable, Sendable, CaseIterable {
        case unreachable, throttled, refused, malformed, signature, mismatch, rejected
        case notFound = "not_found"
        case secondOpinion = "second_opinion"
        case unsupported, unacknowledged
        /// The store's time and the database's differ: the earlier one counts (design rule 12).
        case clock
        /// Checking it has ended the process again and again.
        case setAside = "set_aside"
    }

    /// Of a product that lasts for a time that only the configuration knows.
    static let noDuration = Problem(.unsupported, "no duration is configured")

    package init(_ code: Code, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }

    package var description: String { "\(code.rawValue): \(sentence)" }
}

extension StoreFailure {
    /// What a reply is about, where it is about a sandbox purchase instead of one of production, or
    /// the other way round (design rule 9).
    package static let environment = "environment"

    /// The purchase's app is not in the configuration. It stays due until it is.
    package static let notConfigured = StoreFailure.unsupported(
        reason: "this app is not configured")

    /// A person lets nobody ask the app's store. The purchase stays as it is.
    package static let paused = StoreFailure.unsupported(
        reason: "this app is paused: renewald resume lets it be asked about again")

    package var problem: Problem {
        switch self {
        case .unreachable(let reason, _):
            Problem(.unreachable, "the store gave no usable reply (\(reason))")
        case .throttled:
            Problem(.throttled, "the store asked for fewer calls")
        case .refused(let reason, _):
            Problem(.refused, "the store refused our credentials (\(reason))")
        case .malformed(let field):
            Problem(.malformed, "the reply could not be read (\(field))")
        case .signature(let reason):
            Problem(.signature, "the reply's signature is not valid (\(reason))")
        case .mismatch(let what):
            Problem(.mismatch, "the reply is about another \(what)")
        case .rejected(let reason):
            Problem(.rejected, "the store does not accept this token (\(reason))")
        case .unsupported(let reason):
            Problem(.unsupported, reason)
        }
    }

    /// Whether it says something of the store or our credentials, not of this one purchase: such
    /// failures open the circuit of the app.
    package var concernsWholeApp: Bool {
        switch self {
        case .unreachable, .throttled, .refused, .signature: true
        case .malformed(let field): Self.isWhole(field)
        case .mismatch, .rejected, .unsupported: false
        }
    }

    /// Whether nothing of a reply could be read, not a member of it alone: what a store says of one
    /// purchase in words that this program does not know keeps nobody else waiting.
    private static func isWhole(_ field: String) -> Bool {
        ["body", "redirect", "status ", "token endpoint"].contains(where: field.hasPrefix)
    }
}
