import Renewal

/// What `renewald explain --json` prints. The names of the keys are a promise; every key is in
/// every object.
package struct ExplanationJSON: Encodable {
    let found_by: String
    let now: String
    let notes: [String]
    let users: [User]

    package init(_ explanation: Explanation) {
        found_by = explanation.finding.rawValue
        now = explanation.now.text
        notes = explanation.notes
        users = explanation.users.map(User.init)
    }

    struct User: Encodable {
        let user: UserID
        let entitlements: [Held]
        let purchases: [Purchase]
        let parted: [Parted]
        let claimed: [Claimed]
        let unread: [Unread]

        init(_ user: Explanation.User) {
            self.user = user.id
            entitlements = user.holdings.map(Held.init)
            purchases = user.purchases.map(Purchase.init)
            parted = user.parted.map(Parted.init)
            claimed = user.claimed.map(Claimed.init)
            unread = user.unread.map(Unread.init)
        }
    }

    struct Unread: Encodable {
        let id: Int64
        let store: Nullable<String>
        let app: Nullable<AppID>
        let product: Nullable<ProductID>
        let problem: String

        init(_ unread: Explanation.Unread) {
            id = unread.id
            store = Nullable(unread.app?.store.rawValue)
            app = Nullable(unread.app?.id)
            product = Nullable(unread.product)
            problem = "\(unread.problem)"
        }
    }

    struct Claimed: Encodable {
        let id: Int64
        let store: String
        let app: AppID
        let product: ProductID
        let owner: UserID

        init(_ claimed: Explanation.Claimed) {
            id = claimed.id
            store = claimed.app.store.rawValue
            app = claimed.app.id
            product = claimed.product
            owner = claimed.owner
        }
    }

    struct Parted: Encodable {
        let id: Int64
        let store: String
        let app: AppID
        let product: ProductID
        let steps: [Step]

        init(_ parted: Explanation.Parted) {
            id = parted.id
            store = parted.store
            app = parted.app
            product = parted.product
            steps = parted.steps.map(Step.init)
        }
    }

    struct Held: Encodable {
        let entitlement: EntitlementID
        let active: Bool
        let since: Nullable<String>
        let reason: String
        let expires_at: Nullable<String>
        let will_renew: Nullable<Bool>
        let in_grace: Bool
        let store: String
        let product: ProductID
        let purchase_id: Int64
        let event_id: Nullable<Int64>

        init(_ held: Explanation.Held) {
            entitlement = held.entitlement.entitlement
            active = held.entitlement.active
            since = Nullable(held.since?.at.text)
            reason = held.entitlement.reason
            expires_at = Nullable(held.entitlement.expiresAt?.text)
            will_renew = Nullable(held.entitlement.willRenew)
            in_grace = held.entitlement.inGrace
            store = held.entitlement.store.rawValue
            product = held.entitlement.product
            purchase_id = held.entitlement.purchaseID
            event_id = Nullable(held.since?.id)
        }
    }

    struct Purchase: Encodable {
        let id: Int64
        let store: String
        let app: AppID
        let environment: Nullable<String>
        let product: ProductID
        let kind: Nullable<String>
        let state: String
        let access: String
        let order_id: Nullable<OrderID>
        let original_id: Nullable<OrderID>
        let submitted_at: String
        let checked_at: Nullable<String>
        let paid_through: Nullable<String>
        let expires_at: Nullable<String>
        let auto_renew: Nullable<Bool>
        let problem: Nullable<String>
        let next_check_at: Nullable<String>
        let next_check_why: String
        let evidence_since: Nullable<String>
        let evidence_complete: Bool
        let steps: [Step]

        init(_ purchase: Explanation.Purchase) {
            id = purchase.id
            store = purchase.app.store.rawValue
            app = purchase.app.id
            environment = Nullable(purchase.environment?.rawValue)
            product = purchase.product
            kind = Nullable(purchase.kind?.rawValue)
            state = purchase.state.rawValue
            access = purchase.access.rawValue
            order_id = Nullable(purchase.orderID)
            original_id = Nullable(purchase.originalID)
            submitted_at = purchase.submittedAt.text
            checked_at = Nullable(purchase.checkedAt?.text)
            paid_through = Nullable(purchase.paidThrough?.text)
            expires_at = Nullable(purchase.expiresAt?.text)
            auto_renew = Nullable(purchase.autoRenew)
            problem = Nullable(purchase.problem)
            next_check_at = Nullable(purchase.next.at?.text)
            next_check_why = purchase.next.why
            evidence_since = Nullable(purchase.evidenceSince?.text)
            evidence_complete = !purchase.beginsLate
            steps = purchase.steps.map(Step.init)
        }
    }

    struct Step: Encodable {
        let at: String
        let check: Nullable<Check>
        let events: [Event]

        init(_ step: Explanation.Step) {
            at = step.at.text
            check = Nullable(step.check.map(Check.init))
            events = step.events.map(Event.init)
        }
    }

    struct Check: Encodable {
        let user: UserID
        let answer: String
        let heard: String
        let rule: String
        let calls: [Call]
        let state_before: String
        let state: String
        let access_before: String
        let access: String
        let product: ProductID
        let order_id: Nullable<OrderID>
        let paid_through: Nullable<String>
        let expires_at: Nullable<String>
        let problem: Nullable<String>
        let next_check_at: Nullable<String>

        init(_ check: Explanation.Check) {
            user = check.userID
            answer = check.evidence.kind.rawValue
            heard = check.evidence.heard
            rule = check.rule
            calls = check.evidence.calls.map(Call.init)
            state_before = check.stateBefore
            state = check.state
            access_before = check.accessBefore
            access = check.access
            product = check.product
            order_id = Nullable(check.orderID)
            paid_through = Nullable(check.paidThrough?.text)
            expires_at = Nullable(check.expiresAt?.text)
            problem = Nullable(check.problem)
            next_check_at = Nullable(check.nextCheckAt?.text)
        }
    }

    /// A body that is kept whole is not shown: it may hold secrets.
    struct Call: Encodable {
        let name: String
        let status: Nullable<Int>
        let bytes: Int
        let sha256: Nullable<String>

        init(_ call: Evidence.Call) {
            name = call.name
            status = Nullable(call.status)
            bytes = call.bytes
            sha256 = Nullable(call.digest)
        }
    }

    struct Event: Encodable {
        let id: Int64
        let key: String
        let kind: String
        let reason: String
        let user: UserID
        let entitlement: Nullable<EntitlementID>
        let product: ProductID
        let effective_at: String
        let expires_at: Nullable<String>

        init(_ event: Explanation.Event) {
            id = event.id
            key = event.key
            kind = event.kind
            reason = event.reason
            user = event.userID
            entitlement = Nullable(event.entitlement)
            product = event.product
            effective_at = event.effectiveAt.text
            expires_at = Nullable(event.expiresAt?.text)
        }
    }
}
