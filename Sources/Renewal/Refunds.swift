/// A store asks what the app knows and wants about a refund (Apple's `CONSUMPTION_REQUEST`) or a
/// charge-back (Google's `pendingRefundReviewNotification`). Never a verdict: it moves no access.
package struct RefundQuestion: Hashable, Sendable {
    /// The store's own name of the news.
    package let id: NewsID
    /// By what the purchase is found: Apple's original transaction id, Google's base order id.
    package let originalID: OrderID
    /// What is to be paid back: Apple's transaction id, Google's order id with its renewal.
    package let order: OrderID
    package let environment: StoreEnvironment
    /// What the answer has to name, where the store gives it: Google's `pendingRefundToken`.
    package let token: StoreToken?
    /// The store's own word, such as `UNINTENDED_PURCHASE` or Google's number; nil where it has
    /// given none.
    package let reason: String?
    package let askedAt: Timestamp
    package let answerBy: Timestamp
    /// What the app had given the store for its user; nil where the question has none.
    package let accountToken: String?

    package init(
        id: NewsID, originalID: OrderID, order: OrderID, environment: StoreEnvironment,
        token: StoreToken? = nil, reason: String?, askedAt: Timestamp, answerBy: Timestamp,
        accountToken: String? = nil
    ) {
        self.id = id
        self.originalID = originalID
        self.order = order
        self.environment = environment
        self.token = token
        self.reason = reason
        self.askedAt = askedAt
        self.answerBy = answerBy
        self.accountToken = accountToken
    }
}

/// What came of a question about a refund.
package enum RefundOutcome: String, Hashable, Sendable, CaseIterable {
    case refunded, declined
}

/// News of what came of a question about a refund.
package struct RefundRuling: Hashable, Sendable {
    package let id: NewsID
    /// As `RefundQuestion.order`.
    package let order: OrderID
    package let outcome: RefundOutcome
    /// When the store has told it; nil where that is not known, or where no question can follow.
    package let ruledAt: Timestamp?

    package init(
        id: NewsID, order: OrderID, outcome: RefundOutcome, ruledAt: Timestamp? = nil
    ) {
        self.id = id
        self.order = order
        self.outcome = outcome
        self.ruledAt = ruledAt
    }

    /// Whether the store has asked about the order again since.
    package func isOvertaken(by questions: [RefundQuestion]) -> Bool {
        guard let ruledAt else { return false }
        return questions.contains { $0.order == order && $0.askedAt > ruledAt }
    }
}

/// A notice about a refund that was stored with what it says, for the journal.
package struct RefundNotice: Hashable, Sendable {
    package let reason: NoticeReason
    package let app: AppKey
    /// Nil where nobody had heard the question.
    package let requestID: Int64?
    /// Nil until somebody submits it, as is the user.
    package let purchaseID: Int64?
    package let userID: UserID?
    package let answerBy: Timestamp?

    package init(
        _ reason: NoticeReason, of app: AppKey, requestID: Int64?, purchaseID: Int64?,
        userID: UserID?, answerBy: Timestamp?
    ) {
        self.reason = reason
        self.app = app
        self.requestID = requestID
        self.purchaseID = purchaseID
        self.userID = userID
        self.answerBy = answerBy
    }
}

/// What the app would have a store do. The raw value is how `renewald.answer_refund` says it.
package enum RefundPreference: String, Hashable, Sendable, CaseIterable {
    case grant, prorate, decline, neutral
}

/// An answer to a question about a refund, whole and ready to be sent.
package struct RefundAnswer: Hashable, Sendable {
    package let preference: RefundPreference
    /// Thousandths of a percent, 0 to 100,000. Nil is left out: Apple works it out for what renews
    /// by itself.
    package let consumedMilliPercent: Int?
    package let isDelivered: Bool
    /// A free sample or a trial came before the purchase.
    package let hasSample: Bool
    /// Apple takes nothing without it.
    package let isConsented: Bool

    package init(
        preference: RefundPreference, consumedMilliPercent: Int?, isDelivered: Bool,
        hasSample: Bool, isConsented: Bool
    ) {
        self.preference = preference
        self.consumedMilliPercent = consumedMilliPercent
        self.isDelivered = isDelivered
        self.hasSample = hasSample
        self.isConsented = isConsented
    }
}

/// A question to be answered now.
package struct RefundReply: Hashable, Sendable {
    package let app: AppKey
    package let question: RefundQuestion
    package let answer: RefundAnswer

    package init(app: AppKey, question: RefundQuestion, answer: RefundAnswer) {
        self.app = app
        self.question = question
        self.answer = answer
    }
}

/// What came of sending an answer.
package enum RefundSending: Hashable, Sendable {
    /// The store has it.
    case taken
    /// The store does not take this answer, now or later. `reason` names a status or a code.
    case refused(reason: String)
    /// The store has certainly not taken it: it was not sent, or was turned away at the door. It
    /// may be sent again.
    case notSent(StoreFailure)
    /// It was sent, and whether it was taken is not known: the time was up, the connection broke or
    /// the store was in trouble. Apple may be told again; Google keeps the first answer, so it must
    /// not be.
    case unknown(StoreFailure)
}

/// News that nobody handles, such as a notification of a type that is not known. It is recorded
/// before it is acknowledged.
package struct UnhandledNews: Hashable, Sendable {
    package let id: NewsID
    /// The store's own word: printable, and at most `typeLimit` characters of it. `unreadable` for
    /// what has none that can be read.
    package let type: String
    /// Whether the type is known to be of no use: it is recorded all the same, without a warning.
    package let isExpected: Bool

    /// Longer names are cut.
    package static let typeLimit = 64
    package static let unreadable = "unreadable"

    package init(id: NewsID, type: String, isExpected: Bool) {
        self.id = id
        let shown = type.unicodeScalars.prefix(Self.typeLimit).map { scalar in
            (0x20..<0x7f).contains(scalar.value) ? Character(scalar) : "?"
        }
        self.type = shown.isEmpty ? Self.unreadable : String(shown)
        self.isExpected = isExpected
    }
}
