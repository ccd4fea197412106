/// `[refunds]`: what a store is told that asks about a refund.
package struct RefundRule: Hashable, Sendable {
    package enum Answering: String, Hashable, Sendable, CaseIterable {
        case off, policy, app
    }

    package var answering = Answering.off
    package var policy = RefundPreference.neutral
    /// How long the app may answer before the policy does.
    package var wait = Duration.hours(4)
    /// Whether the app's terms have each customer's consent that Apple is told.
    package var isConsented = false

    package init() {}
}

/// Who has decided an answer.
package enum RefundAuthor: String, Hashable, Sendable {
    case app, policy
}

/// An open question whose answer is to be sent now.
package struct RefundCase: Hashable, Sendable {
    package let id: Int64
    package let app: AppKey
    package let question: RefundQuestion
    /// What was decided before; nil where the policy is to decide it.
    package let given: RefundAnswer?
    /// Of the purchase, as far as that is known.
    package let kind: ProductKind?
    /// What was paid for with the order, as far as that is known.
    package let period: Range<Timestamp>?
    /// Times that an answer was about to be sent.
    package let attempts: Int

    package init(
        id: Int64, app: AppKey, question: RefundQuestion, given: RefundAnswer?, kind: ProductKind?,
        period: Range<Timestamp>?, attempts: Int
    ) {
        self.id = id
        self.app = app
        self.question = question
        self.given = given
        self.kind = kind
        self.period = period
        self.attempts = attempts
    }
}

extension RefundCase {
    package var author: RefundAuthor { given == nil ? .policy : .app }

    /// The answer as it is sent. Given again it is the same.
    package func answer(under rule: RefundRule, at now: Timestamp) -> RefundAnswer {
        RefundAnswer(
            preference: given?.preference ?? rule.policy, consumedMilliPercent: consumed(at: now),
            isDelivered: given?.isDelivered ?? true, hasSample: given?.hasSample ?? false,
            isConsented: given?.isConsented ?? false || rule.isConsented)
    }

    /// What the app has said, otherwise the share of the paid period that has passed. Nil where
    /// there is none, such as for coins: what is not known is not said. For what renews by itself
    /// Apple works it out, and takes no other figure.
    private func consumed(at now: Timestamp) -> Int? {
        if app.store.traits.measuresUse, kind == .autoRenewable { return nil }
        if let consumed = given?.consumedMilliPercent { return consumed }
        guard kind == .autoRenewable || kind == .nonRenewing, let period, !period.isEmpty else {
            return nil
        }
        let length = (period.upperBound - period.lowerBound).seconds
        let passed = (now - period.lowerBound).seconds
        return Int((min(max(passed / length, 0), 1) * 100_000).rounded())
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

/// What is known of the questions at one moment.
package struct RefundRound: Hashable, Sendable {
    /// The database's time.
    package let now: Timestamp
    /// Whether any question is open, also one whose time to be answered has not come.
    package let hasOpen: Bool
    /// What is to be sent now, the nearest deadline first.
    package var due: [RefundCase] = []
    /// What would be due and cannot be read: put off for an hour.
    package var unreadable: [UnreadableRequest] = []
    /// What a person is told, once each.
    package var alarms: [RefundAlarm] = []

    package init(now: Timestamp, hasOpen: Bool) {
        self.now = now
        self.hasOpen = hasOpen
    }
}

/// A question whose row holds what this program has no word for. Its neighbours are answered.
package struct UnreadableRequest: Hashable, Sendable {
    package let id: Int64
    package let app: AppKey
    /// The column that cannot be read.
    package let column: String

    package init(id: Int64, app: AppKey, column: String) {
        self.id = id
        self.app = app
        self.column = column
    }

    package var problem: Problem {
        Problem(.setAside, "its row cannot be read (column \(column)): fix the row")
    }
}

/// Something about a question that a person is told.
package struct RefundAlarm: Hashable, Sendable {
    package enum Cause: String, Hashable, Sendable {
        /// The deadline is near, and the store has no answer.
        case unanswered
        /// The deadline has passed without an answer.
        case expired
        /// A process has ended while it sent the answer, and the store may not be told twice.
        case uncertain
    }

    package let cause: Cause
    package let id: Int64
    package let app: AppKey
    package let answerBy: Timestamp

    package init(_ cause: Cause, id: Int64, app: AppKey, answerBy: Timestamp) {
        self.cause = cause
        self.id = id
        self.app = app
        self.answerBy = answerBy
    }
}

/// One attempt to send an answer: its number is one more than those before it.
package struct RefundAttempt: Hashable, Sendable {
    package let request: RefundCase
    package let answer: RefundAnswer
    package let worker: WorkerID
    /// How long the worker may take before others think it dead.
    package let limit: Duration

    package init(
        of request: RefundCase, answer: RefundAnswer, by worker: WorkerID, limit: Duration
    ) {
        self.request = request
        self.answer = answer
        self.worker = worker
        self.limit = limit
    }
}

/// How an attempt to send an answer has ended, as it is noted.
package enum RefundEnding: Hashable, Sendable {
    case taken
    /// Nobody may send it again: whether the store has it is not known.
    case uncertain(Problem)
    /// It is of no use to send it again.
    case refused(Problem)
    /// It is sent again after a while.
    case later(Problem, rest: Duration)
}

extension RefundCase {
    private static let longestRest = Duration.minutes(5)

    /// What becomes of the attempt. Apple may be told again, as the same answer changes nothing;
    /// Google keeps the first call.
    package func ending(_ sending: RefundSending, jitter: Double) -> RefundEnding {
        switch sending {
        case .taken: .taken
        case .refused(let reason):
            .refused(Problem(.rejected, "the store does not take this answer (\(reason))"))
        case .unknown(let failure) where app.store.traits.keepsFirstAnswer:
            .uncertain(
                Problem(
                    failure.problem.code,
                    "it is not known whether \(app.store.traits.vendor) has the answer, and it "
                        + "keeps the first one: \(failure.problem.sentence)"))
        case .notSent(let failure), .unknown(let failure):
            .later(
                failure.problem,
                rest: max(
                    min(retryDelay(attempts: attempts + 1, jitter: jitter), Self.longestRest),
                    failure.retryAfter ?? .zero))
        }
    }
}

extension StoreFailure {
    fileprivate var retryAfter: Duration? {
        if case .throttled(let retryAfter) = self { retryAfter } else { nil }
    }
}
