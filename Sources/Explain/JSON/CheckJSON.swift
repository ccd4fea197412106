package import Ledger
package import Renewal

/// `renewald check --json`.
package struct CheckJSON: JSONObject {
    private let user: UserID
    private let purchases: [Purchase]

    /// The purchases come in any order.
    package init(of user: UserID, _ purchases: [Purchase]) {
        self.user = user
        self.purchases = purchases.sorted { $0.id < $1.id }
    }

    package func write(to row: inout JSONRow) {
        row.user = user
        row.purchases = purchases
    }

    /// What was asked, heard, decided and told of one; of one that cannot be read, that; of one
    /// that another worker has moved each time, what it was.
    package struct Purchase: JSONObject {
        fileprivate let id: Int64
        private var check: Check?
        private var unreadable: UnreadablePurchase?
        private var contested: Claim?

        private struct Check {
            let claim: Claim
            let call: AnsweredCall
            let decision: Decision
            let events: [Event]
        }

        package init(
            _ claim: Claim, _ answered: AnsweredCall, _ decision: Decision, _ events: [Event]
        ) {
            id = claim.purchase.id
            check = Check(claim: claim, call: answered, decision: decision, events: events)
        }

        package init(_ unreadable: UnreadablePurchase) {
            id = unreadable.id
            self.unreadable = unreadable
        }

        package init(_ contested: Claim) {
            id = contested.purchase.id
            self.contested = contested
        }

        package func write(to row: inout JSONRow) {
            let claim = check?.claim ?? contested
            let before = claim?.purchase.facts
            let after = check?.decision.facts ?? before
            let app = claim?.purchase.app ?? unreadable?.app
            row.id = id
            row.owner = check?.decision.handsTo ?? claim?.purchase.userID ?? unreadable?.userID
            row.store = app?.store
            row.app = app?.id
            row.product = after?.product ?? unreadable?.product
            row.stateBefore = before?.state
            row.state = after?.state
            row.accessBefore = before?.access
            row.access = after?.access
            row.expiresAtBefore = before?.expiresAt
            row.expiresAt = after?.expiresAt
            row.nextCheckAt = check?.decision.shownNextCheckAt
            row.problem = (check?.decision.problem ?? unreadable?.problem)?.description
            row.calls = (check?.call.calls ?? []).map(Call.init)
            row.heard = check?.call.answer.words
            row.rule = check?.decision.rule ?? contested?.contestedRule
            row.events = (check?.events ?? []).map(Told.init)
        }
    }

    private struct Call: JSONObject {
        let call: StoreCall

        func write(to row: inout JSONRow) {
            row.name = call.name
            row.status = call.status
        }
    }

    private struct Told: JSONObject {
        let event: Event

        func write(to row: inout JSONRow) {
            row.kind = event.kind.name
            row.reason = event.kind.reason
            row.entitlement = event.entitlement
        }
    }
}

extension Claim {
    /// Instead of a rule of judgement, where a check has found it moved in each round.
    package var contestedRule: String {
        "another worker changed it each time; nothing was written: run check again"
    }
}

extension Decision {
    /// Nil is never.
    package var shownNextCheckAt: Timestamp? { nextCheckAt == .never ? nil : nextCheckAt }
}
