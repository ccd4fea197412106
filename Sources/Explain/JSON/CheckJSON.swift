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
        private var undone: (claim: Claim, rule: String)?

        private struct Check {
            let outcome: Outcome
            let call: AnsweredCall
            let events: [Event]
        }

        package init(_ outcome: Outcome, of answered: AnsweredCall, _ events: [Event]) {
            id = outcome.claim.purchaseID
            check = Check(outcome: outcome, call: answered, events: events)
        }

        package init(_ unreadable: UnreadablePurchase) {
            id = unreadable.id
            self.unreadable = unreadable
        }

        /// - Parameters:
        ///   - claim: of which nothing was decided.
        ///   - rule: why, instead of a rule of judgement.
        package init(_ claim: Claim, rule: String) {
            id = claim.purchase.id
            undone = (claim, rule)
        }

        package func write(to row: inout JSONRow) {
            let claim = check?.outcome.claim ?? undone?.claim
            let before = claim?.purchase.facts
            let after = check?.outcome.facts ?? before
            let app = claim?.purchase.app ?? unreadable?.app
            row.id = id
            row.owner = check?.outcome.owner ?? claim?.purchase.userID ?? unreadable?.userID
            row.store = app?.store
            row.app = app?.id
            row.product = after?.product ?? unreadable?.product
            row.stateBefore = before?.state
            row.state = after?.state
            row.accessBefore = before?.access
            row.access = after?.access
            row.expiresAtBefore = before?.expiresAt
            row.expiresAt = after?.expiresAt
            let standing = check.map { $0.outcome.standing(after: $0.call.answer) }
            row.nextCheckAt = standing?.nextCheckAt
            row.problem = standing?.problem ?? unreadable?.problem.description
            row.calls = (check?.call.calls ?? []).map(Call.init)
            row.heard = check?.call.answer.words
            row.rule = check?.outcome.rule ?? undone?.rule
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
    /// Instead of a rule of judgement, where a check has found it moved in each round, by a worker
    /// or a backend, or held by one.
    package var contestedRule: String {
        "another session changed or held it each time; nothing was written: run check again"
    }

    /// The same, where the database took only a part of the user's purchases.
    package var unstoredRule: String {
        "the database did not take it; nothing was written: run check again"
    }

    /// The same, where the check was stopped before its turn came.
    package var leftRule: String { "not asked about: the check was interrupted" }
}
