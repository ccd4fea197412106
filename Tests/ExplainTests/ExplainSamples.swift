import Ledger
import Renewal

/// Users as the ledger may find them, made up for the tests of what is shown of them.
enum Sample {
    static let app = AppKey(store: .google, id: "com.example.reader")
    /// 2026-09-21 10:31:00 UTC.
    static let start = Timestamp(microsecondsSinceEpoch: 1_789_986_660_000_000)
    static let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    static let token: StoreToken = "planted-token-planted-token-planted-token"

    static func day(_ count: Int, _ more: Duration = .zero) -> Timestamp {
        start + .days(count) + more
    }

    /// Of purchase 1: one that waits, and one that went its way.
    static let refunds = [
        StoredRefund(
            id: 3, purchaseID: 1, orderID: "GPA.3301-7742-9918-40211..1", askedAt: day(1),
            answerBy: day(2), reason: "4", state: "closed", answer: "decline", answeredBy: "app",
            answeredAt: day(1, .hours(2)), outcome: .declined, problem: "unreachable: time-out"),
        StoredRefund(
            id: 4, purchaseID: 1, orderID: "GPA.3301-7742-9918-40211..1", askedAt: day(9),
            answerBy: day(10), reason: nil, state: "open"),
    ]

    /// What a check came to, in few words.
    struct Check {
        var at: Timestamp
        var kind = Evidence.Kind.verdict
        var heard = "SUBSCRIPTION_STATE_ACTIVE, autoRenewEnabled true"
        var rule = "in force and paid"
        var from = ("active", "granted")
        var to = ("active", "granted")
        var until: Timestamp?
        var told: [(kind: String, reason: String)] = []
        var status: Int? = 200
    }

    static func purchase(
        _ id: Int64 = 1, user: UserID = "ada", product: ProductID = "monthly",
        app: AppKey = app, state: PurchaseState, access: Access, until: Timestamp? = nil,
        due: Timestamp = .never, submitted: Timestamp = start, now: Timestamp = day(61),
        attempts: Int = 0, problem: String? = nil, orderID: OrderID = "GPA.3301-7742-9918-40211..1",
        entitlement: EntitlementID = "pro", account: UserID? = nil, signals: Set<Signal> = [],
        checks: [Check]
    ) -> PurchaseHistory {
        var facts = Facts(storedProduct: product, state: state, access: access)
        facts.environment = .production
        facts.accountToken = account
        facts.signals = signals
        facts.kind = .autoRenewable
        facts.paidThrough = until
        facts.expiresAt = until
        facts.autoRenew = access == .granted
        facts.orderID = orderID
        facts.originalID = "GPA.3301-7742-9918-40211"
        let claim = Claim(
            purchase: Purchase(
                id: id, userID: user, app: app, token: token, createdAt: submitted, facts: facts),
            shard: 0, lane: 1, dueAt: due, version: 3, attempts: attempts, crashes: 0,
            checkedAt: checks.last?.at, problem: problem, claimedAt: now)
        return PurchaseHistory(
            claim: claim, evidence: checks.map { evidence($0, id, user, product, orderID) },
            events: checks.flatMap { check in
                check.told.enumerated().map { index, told in
                    event(
                        told, check, check.at.eventID + id * 10 + Int64(index), id, user, product,
                        app, entitlement)
                }
            })
    }

    private static func evidence(
        _ check: Check, _ id: Int64, _ user: UserID, _ product: ProductID, _ orderID: OrderID
    ) -> StoredEvidence {
        StoredEvidence(
            purchaseID: id, at: check.at, userID: user,
            evidence: Evidence(
                check.kind, heard: check.heard,
                calls: [
                    Evidence.Call(
                        name: "purchases.subscriptionsv2.get", status: check.status, bytes: 812,
                        digest: check.status == nil ? nil : digest)
                ]),
            rule: check.rule, stateBefore: check.from.0, state: check.to.0,
            accessBefore: check.from.1, access: check.to.1, product: product, orderID: orderID,
            paidThrough: check.until, expiresAt: check.until, problem: nil,
            nextCheckAt: check.at + .days(7))
    }

    private static func event(
        _ told: (kind: String, reason: String), _ check: Check, _ eventID: Int64, _ id: Int64,
        _ user: UserID, _ product: ProductID, _ app: AppKey,
        _ entitlement: EntitlementID
    ) -> StoredEvent {
        StoredEvent(
            id: eventID, key: "00000000-0000-4000-8000-000000000000", createdAt: check.at,
            kind: told.kind, reason: told.reason, userID: user,
            entitlement: told.kind == "notice" ? nil : entitlement, purchaseID: id,
            store: app.store.rawValue, app: app.id, environment: "production", product: product,
            orderID: nil, effectiveAt: check.at - .seconds(5), expiresAt: check.until, detail: "{}")
    }

    static func history(
        user: UserID = "ada", now: Timestamp = day(61), holds: [Entitlement] = [],
        _ purchases: [PurchaseHistory]
    ) -> UserHistory {
        UserHistory(userID: user, now: now, entitlements: holds, purchases: purchases)
    }

    static func entitlement(
        _ name: EntitlementID = "pro", active: Bool, until: Timestamp?, reason: String,
        inGrace: Bool = false, product: ProductID = "monthly", id: Int64 = 1
    ) -> Entitlement {
        Entitlement(
            entitlement: name, active: active, expiresAt: until, willRenew: active,
            inGrace: inGrace, reason: reason, store: .google, product: product, purchaseID: id)
    }

    /// Bought, renewed, turned off, run out: the question is why she lost access.
    static let lapsed = history(
        now: day(61, .minutes(14)),
        holds: [entitlement(active: false, until: day(61), reason: "cancelled")],
        [
            purchase(
                state: .expired, access: .none, until: day(61), due: day(62),
                now: day(61, .minutes(14)),
                checks: [
                    Check(
                        at: day(0, .seconds(2)), from: ("new", "none"), until: day(30),
                        told: [("grant", "purchased")]),
                    Check(at: day(30, .seconds(9)), until: day(61), told: [("notice", "renewed")]),
                    Check(
                        at: day(44), kind: .failure, heard: "the store gave no usable reply",
                        rule: "no verdict, no change", until: day(61), status: 503),
                    Check(
                        at: day(44, .seconds(40)),
                        heard: "SUBSCRIPTION_STATE_CANCELED, expiryTime 2026-11-21T10:31:00Z, "
                            + "autoRenewEnabled false, canceled by user",
                        until: day(61), told: [("notice", "auto_renew_off")]),
                    Check(
                        at: day(61, .seconds(5)),
                        heard: "SUBSCRIPTION_STATE_EXPIRED, expiryTime 2026-11-21T10:31:00Z, "
                            + "autoRenewEnabled false, canceled by user",
                        rule: "the store says that it is over", to: ("expired", "none"),
                        until: day(61), told: [("revoke", "cancelled")]),
                ])
        ])
}

extension Timestamp {
    /// Ids of events grow with the time.
    fileprivate var eventID: Int64 { (self - Sample.start).components.seconds / 60 * 100 }
}

extension Sample {
    /// So many purchases, of which some are in grace, refunded or not checked yet, with so many
    /// checks in all.
    static func crowd(purchases count: Int, checks: Int) -> UserHistory {
        let now = day(300)
        let purchases = (0..<count).map { index in
            standing(index, checks: max(checks / count + (index < checks % count ? 1 : 0), 0), now)
        }
        return history(
            now: now,
            holds: [
                entitlement(active: true, until: now + .days(12), reason: "resubscribed"),
                entitlement(
                    "offline", active: true, until: now + .days(2), reason: "purchased",
                    inGrace: true),
                entitlement("radio", active: false, until: day(90), reason: "refunded"),
            ], purchases)
    }

    private static func standing(_ index: Int, checks count: Int, _ now: Timestamp)
        -> PurchaseHistory
    {
        let start = day(index * 17)
        let distance = (now - start) / max(count, 1)
        let checks = (0..<count).map { number in
            check(number, of: count, at: start + distance * number, index)
        }
        let last = checks.last?.to ?? ("new", "none")
        let isGranted = last.1 == "granted"
        let stores: [AppKey] = Store.allCases.map { AppKey(store: $0, id: "com.example.reader") }
        return purchase(
            Int64(index + 1), product: "com.example.reader.pro.\(index).monthly",
            app: stores[index % stores.count], state: PurchaseState(rawValue: last.0) ?? .new,
            access: Access(rawValue: last.1) ?? .none,
            until: isGranted ? now + .days(index * 4 + 2) : nil, due: now + .hours(3),
            submitted: start, now: now, problem: index == 1 ? "unreachable: no reply" : nil,
            checks: checks)
    }

    private static func check(
        _ number: Int, of count: Int, at instant: Timestamp, _ index: Int
    ) -> Check {
        let stages = [
            ("active", "granted"), ("active", "granted"), ("grace", "granted"), ("hold", "none"),
        ]
        let stage = { (number: Int) in stages[(number + index) % stages.count] }
        var check = Check(at: instant, from: stage(number + 3), to: stage(number))
        check.until = instant + .days(30)
        if number == 0 { check.from = index % 3 == 2 ? ("active", "granted") : ("new", "none") }
        if number % 5 == 4 {
            check.kind = .failure
            check.heard = "the store gave no usable reply (time-out)"
            check.rule = "no verdict, no change"
            check.from = check.to
            check.status = nil
        } else if check.from.1 != check.to.1 {
            check.told = [
                check.to.1 == "granted" ? ("grant", "recovered") : ("revoke", "payment_failed")
            ]
        }
        if number % 4 == 1 { check.told.append(("notice", "renewed")) }
        return check
    }
}
