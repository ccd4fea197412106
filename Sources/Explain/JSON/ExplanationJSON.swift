import Ledger
import Renewal

/// `renewald explain --json`.
extension Explanation: JSONObject {
    package func write(to row: inout JSONRow) {
        row.foundBy = finding.rawValue
        row.now = now
        row.notes = notes
        row.users = users
    }
}

extension Explanation.User: JSONObject {
    package func write(to row: inout JSONRow) {
        row.user = id
        row.entitlements = holdings
        row.purchases = purchases
        row.parted = transferred
        row.claimed = claimed
        row.unread = unread.map(UnreadJSON.init)
    }
}

extension Explanation.Held: JSONObject {
    package func write(to row: inout JSONRow) {
        row.entitlement = entitlement.entitlement
        row.active = entitlement.active
        row.since = since?.createdAt
        row.reason = entitlement.reason
        row.expiresAt = entitlement.expiresAt
        row.willRenew = entitlement.willRenew
        row.inGrace = entitlement.inGrace
        row.store = entitlement.store
        row.product = entitlement.product
        row.purchaseId = entitlement.purchaseID
        row.eventId = since?.id
    }
}

extension Explanation.Purchase: JSONObject {
    package func write(to row: inout JSONRow) {
        row.id = id
        row.store = app.store
        row.app = app.id
        row.environment = facts.environment
        row.product = facts.product
        row.kind = facts.kind
        row.state = facts.state
        row.access = facts.access
        row.orderId = facts.orderID
        row.originalId = facts.originalID
        row.accountToken = facts.accountToken
        row.submittedAt = submittedAt
        row.checkedAt = checkedAt
        row.paidThrough = facts.paidThrough
        row.expiresAt = facts.expiresAt
        row.autoRenew = facts.autoRenew
        row.commitmentEndsAt = facts.commitmentEndsAt
        row.accessReason = facts.accessReason
        row.problem = problem
        row.nextCheckAt = next.at
        row.nextCheckWhy = next.why
        row.evidenceSince = evidenceSince
        row.evidenceComplete = !beginsLate
        row.steps = steps
        row.refunds = refunds.map(RefundJSON.init)
    }
}

private struct RefundJSON: JSONObject {
    let refund: StoredRefund

    func write(to row: inout JSONRow) {
        row.requestId = refund.id
        row.orderId = refund.orderID
        row.askedAt = refund.askedAt
        row.answerBy = refund.answerBy
        row.reason = refund.reason
        row.state = refund.state
        row.answer = refund.answer
        row.answeredBy = refund.answeredBy
        row.answeredAt = refund.answeredAt
        row.outcome = refund.outcome?.rawValue
        row.problem = refund.problem
    }
}

extension Explanation.Transferred: JSONObject {
    package func write(to row: inout JSONRow) {
        row.id = id
        row.store = store
        row.app = app
        row.product = product
        row.steps = steps
    }
}

extension Explanation.Claimed: JSONObject {
    package func write(to row: inout JSONRow) {
        row.id = id
        row.store = app.store
        row.app = app.id
        row.product = product
        row.owner = owner
    }
}

private struct UnreadJSON: JSONObject {
    let purchase: UnreadablePurchase

    func write(to row: inout JSONRow) {
        row.id = purchase.id
        row.store = purchase.app?.store
        row.app = purchase.app?.id
        row.product = purchase.product
        row.problem = purchase.problem.description
    }
}

extension Explanation.Step: JSONObject {
    package func write(to row: inout JSONRow) {
        row.at = at
        row.check = check.map(StepCheckJSON.init)
        row.events = events.map(StepEventJSON.init)
    }
}

private struct StepCheckJSON: JSONObject {
    let check: StoredEvidence

    func write(to row: inout JSONRow) {
        row.user = check.userID
        row.answer = check.evidence.kind
        row.heard = check.evidence.heard
        row.rule = check.rule
        row.calls = check.evidence.calls.map(StepCallJSON.init)
        row.stateBefore = check.stateBefore
        row.state = check.state
        row.accessBefore = check.accessBefore
        row.access = check.access
        row.product = check.product
        row.orderId = check.orderID
        row.paidThrough = check.paidThrough
        row.expiresAt = check.expiresAt
        row.problem = check.problem
        row.nextCheckAt = check.nextCheckAt
    }
}

/// A body that is kept whole is not shown: it may hold secrets.
private struct StepCallJSON: JSONObject {
    let call: Evidence.Call

    func write(to row: inout JSONRow) {
        row.name = call.name
        row.status = call.status
        row.bytes = call.bytes
        row.sha256 = call.digest
    }
}

private struct StepEventJSON: JSONObject {
    let event: StoredEvent

    func write(to row: inout JSONRow) {
        row.id = event.id
        row.key = event.key
        row.kind = event.kind
        row.reason = event.reason
        row.user = event.userID
        row.entitlement = event.entitlement
        row.product = event.product
        row.effectiveAt = event.effectiveAt
        row.expiresAt = event.expiresAt
    }
}
