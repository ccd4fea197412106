import Postgres
package import Renewal

/// What a store has asked about refunds of an app's purchases.
package struct RefundStatus: Hashable, Sendable {
    package let app: AppKey
    /// Questions that the store has no answer to.
    package let open: Int64
    /// Of those: when the first one is too late to answer.
    package let nearestDeadline: Timestamp?
    /// Questions ever.
    package let asked: Int64

    package init(app: AppKey, open: Int64, nearestDeadline: Timestamp?, asked: Int64) {
        self.app = app
        self.open = open
        self.nearestDeadline = nearestDeadline
        self.asked = asked
    }

    init(_ row: PostgresRow) throws(PostgresError) {
        self.init(
            app: try row.app(), open: try row.int64("open"),
            nearestDeadline: try row.optionalInstant("nearest_deadline"),
            asked: try row.int64("asked"))
    }
}

/// A question about a refund, as it stands in `renewald.refund_requests`.
package struct StoredRefund: Hashable, Sendable {
    package let id: Int64
    package let purchaseID: Int64
    package let orderID: OrderID
    package let askedAt: Timestamp
    package let answerBy: Timestamp
    /// The store's own word.
    package let reason: String?
    package let state: String
    package let answer: String?
    /// `app` or `policy`.
    package let answeredBy: String?
    package let answeredAt: Timestamp?
    package let outcome: RefundOutcome?
    /// A stable code, a colon and a sentence.
    package let problem: String?

    package init(
        id: Int64, purchaseID: Int64, orderID: OrderID, askedAt: Timestamp, answerBy: Timestamp,
        reason: String?, state: String, answer: String? = nil, answeredBy: String? = nil,
        answeredAt: Timestamp? = nil, outcome: RefundOutcome? = nil, problem: String? = nil
    ) {
        self.id = id
        self.purchaseID = purchaseID
        self.orderID = orderID
        self.askedAt = askedAt
        self.answerBy = answerBy
        self.reason = reason
        self.state = state
        self.answer = answer
        self.answeredBy = answeredBy
        self.answeredAt = answeredAt
        self.outcome = outcome
        self.problem = problem
    }

    init(_ row: PostgresRow) throws(PostgresError) {
        self.init(
            id: try row.int64("id"), purchaseID: try row.int64("purchase_id"),
            orderID: try row.text("order_id"), askedAt: try row.instant("asked_at"),
            answerBy: try row.instant("answer_by"), reason: try row.optionalText("reason"),
            state: try row.text("state"), answer: try row.optionalText("answer"),
            answeredBy: try row.optionalText("answered_by"),
            answeredAt: try row.optionalInstant("answered_at"),
            outcome: try row.optionalWord("outcome"), problem: try row.optionalText("problem"))
    }
}

extension PostgresLedger {
    /// Reads what stores ask about refunds, by app.
    package func refundStatus() async throws(LedgerError) -> [RefundStatus] {
        try await attempt {
            try await self.reads.query(SQL.statusRefunds()).rows.map(RefundStatus.init)
        }
    }
}
