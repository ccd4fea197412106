/// The Google Play Developer API's subscription purchases, version 2.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2
enum Google {
    /// What the paths of the Play Developer API begin with.
    static let path = "/androidpublisher/v3/applications/{package}"

    /// Answers go on for so long after the end of a subscription, then they are 410.
    static let daysAfterEnd: Int64 = 60

    /// How long a subscription that was not paid reads CANCELED before it reads EXPIRED.
    private static let canceledFor = Instant.day

    /// False for what is sent as a token by mistake: an order id, a whole receipt, a cut text.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && !text.hasPrefix("GPA.")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    static func isGone(_ life: Life, at now: Instant) -> Bool {
        guard life.isRenewable, case .ended(let instant, _) = life.phase else { return false }
        return now - instant > daysAfterEnd * Instant.day
    }

    /// The body of a 200. Members with default values are left out, as the API does.
    static func subscription(_ purchase: Purchase, _ life: Life, at now: Instant) -> JSON {
        let state = State(life, at: now)
        let pending = order(purchase, number: life.charges.count)
        let isAcknowledged = life.latest != nil && life.isAcknowledged
        return .object { json in
            json.member("kind", "androidpublisher#subscriptionPurchaseV2")
            json.member("startTime", life.charges.first?.start)
            json.member("regionCode", purchase.country)
            json.member("subscriptionState", "SUBSCRIPTION_STATE_" + state.name)
            json.member(
                "latestOrderId",
                state.isUnpaid ? pending : order(purchase, number: life.charges.count - 1))
            json.member("linkedPurchaseToken", purchase.replaces)
            context(life, pending, to: &json)
            if purchase.environment == .sandbox { json.object("testPurchase") { _ in } }
            json.member(
                "acknowledgementState",
                isAcknowledged
                    ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : "ACKNOWLEDGEMENT_STATE_PENDING")
            if let expired = purchase.resubscribes, !isAcknowledged {
                json.object("outOfAppPurchaseContext") {
                    $0.member("expiredPurchaseToken", expired)
                }
            }
            accounts(purchase, to: &json)
            lineItems(purchase, life, state, now, to: &json)
            json.member("etag", etag(purchase, life, state))
        }
    }

    /// First the base id, then `..0` for the first renewal.
    static func order(_ purchase: Purchase, number: Int) -> String {
        number < 1 ? purchase.order : "\(purchase.order)..\(number - 1)"
    }

    /// State, and the end of access that goes with it.
    struct State {
        var name: String
        var expiry: Instant?
        var isUnpaid = false
        var renews: Bool

        init(_ life: Life, at now: Instant) {
            let end = life.latest?.end
            renews = life.autoRenews
            expiry = end
            switch life.phase {
            case .pending: name = "PENDING"
            case .abandoned: name = "PENDING_PURCHASE_CANCELED"
            case .running: name = life.autoRenews || life.plan == .prepaid ? "ACTIVE" : "CANCELED"
            case .silent(let until):
                (name, isUnpaid, expiry) = ("ACTIVE", true, until)
            case .grace(let since, let until):
                (name, isUnpaid) = ("IN_GRACE_PERIOD", true)
                let days = (now - since) / Instant.day + 1
                expiry = min(since + days * Instant.day, until)
            case .hold: (name, isUnpaid) = ("ON_HOLD", true)
            case .paused: name = "PAUSED"
            case .ended(let instant, .paymentFailed):
                name = now - instant < Google.canceledFor ? "CANCELED" : "EXPIRED"
                (renews, isUnpaid) = (false, true)
            case .ended(let instant, .cancelled):
                (name, renews) = ("EXPIRED", false)
                expiry = end.map { min($0, instant) }
            case .ended(let instant, .expired), .ended(let instant, .refunded),
                .ended(let instant, .revoked), .ended(let instant, .replaced),
                .ended(let instant, .priceDeclined), .ended(let instant, .unavailable):
                (name, expiry, renews) = ("EXPIRED", instant, false)
            }
        }
    }

    /// Why it is not simply active.
    private static func context(_ life: Life, _ pending: String, to json: inout JSONWriter) {
        switch life.phase {
        case .pending, .abandoned, .silent: break
        case .running where life.autoRenews || life.plan == .prepaid: break
        case .ended(_, .expired) where life.plan == .prepaid: break
        case .grace: declined("inGracePeriodStateContext", pending, to: &json)
        case .hold: declined("onHoldStateContext", pending, to: &json)
        case .paused(let until):
            json.object("pausedStateContext") { $0.member("autoResumeTime", until) }
        case .running, .ended(_, .cancelled), .ended(_, .expired):
            canceled(
                "userInitiatedCancellation", at: life.autoRenewChangedAt, life.cancellation,
                to: &json)
        case .ended(_, .paymentFailed), .ended(_, .priceDeclined), .ended(_, .unavailable):
            canceled("systemInitiatedCancellation", to: &json)
        case .ended(_, .refunded), .ended(_, .revoked):
            canceled("developerInitiatedCancellation", to: &json)
        case .ended(_, .replaced): canceled("replacementCancellation", to: &json)
        }
    }

    private static func declined(_ context: String, _ order: String, to json: inout JSONWriter) {
        json.object(context) { json in
            json.object("renewalDeclined") { $0.member("pendingOrderId", order) }
        }
    }

    private static func canceled(
        _ cause: String, at instant: Instant? = nil, _ why: Why? = nil, to json: inout JSONWriter
    ) {
        json.object("canceledStateContext") { json in
            json.object(cause) { json in
                json.member("cancelTime", instant)
                guard let why, let reason = why.reason else { return }
                json.object("cancelSurveyResult") { json in
                    json.member("reason", "CANCEL_SURVEY_REASON_" + surveyName(reason))
                    json.member("reasonUserInput", why.comment)
                }
            }
        }
    }

    /// By the numbers of version 1.
    private static func surveyName(_ reason: Int64) -> String {
        switch reason {
        case 0: "OTHERS"
        case 1: "NOT_ENOUGH_USAGE"
        case 2: "TECHNICAL_ISSUES"
        case 3: "COST_RELATED"
        case 4: "FOUND_BETTER_APP"
        default: "UNSPECIFIED"
        }
    }

    private static func accounts(_ purchase: Purchase, to json: inout JSONWriter) {
        let sale = purchase.timeline.terms.sale
        guard purchase.user != nil || sale.profile != nil || sale.linkedAccount != nil else {
            return
        }
        json.object("externalAccountIdentifiers") { json in
            json.member("externalAccountId", sale.linkedAccount)
            json.member("obfuscatedExternalAccountId", purchase.user)
            json.member("obfuscatedExternalProfileId", sale.profile)
        }
    }

    /// 32 hexadecimal digits that change with whatever the answer says (FNV-1a, twice).
    static func etag(_ purchase: Purchase, _ life: Life, at now: Instant) -> String {
        etag(purchase, life, State(life, at: now))
    }

    private static func etag(_ purchase: Purchase, _ life: Life, _ state: State) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        let parts = [
            Int64(purchase.number), state.expiry?.milliseconds ?? 0, Int64(life.charges.count),
            life.autoRenewChangedAt?.milliseconds ?? 0, state.isUnpaid ? 1 : 0,
            Int64(life.happenings.count),
        ]
        for part in parts {
            hash = (hash ^ UInt64(bitPattern: part)) &* 0x100_0000_01b3
        }
        for byte in state.name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let other = (hash ^ 0x5bd1_e995) &* 0x100_0000_01b3
        return hexadecimal(hash) + hexadecimal(other)
    }

    private static func hexadecimal(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension Google {
    /// What a token says whose account is gone.
    static var deadToken: Reply {
        refusal(410, "purchaseTokenNoLongerValid", "The purchase token is no longer valid.")
    }

    /// The error envelope: `{"error":{"code":…,"message":…,"errors":[{…}]}}`.
    static func refusal(
        _ code: Int, _ reason: String, _ message: String, domain: String = "androidpublisher",
        location: String? = nil, status: String? = nil
    ) -> Reply {
        let envelope = JSON.object(capacity: 400) { json in
            json.object("error") { json in
                json.member("code", code)
                json.member("message", message)
                json.objects("errors", [reason]) { json, reason in
                    json.member("message", message)
                    json.member("domain", domain)
                    json.member("reason", reason)
                    json.member("location", location)
                    json.member("locationType", location.map { _ in "parameter" })
                }
                json.member("status", status)
            }
        }
        return Reply(code, envelope)
    }
}
