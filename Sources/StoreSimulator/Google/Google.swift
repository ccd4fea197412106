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
    static func subscription(_ purchase: Purchase, _ life: Life, at now: Instant) -> JSONText {
        var json = JSONText()
        let state = State(life, at: now)
        json.raw("{\"kind\":\"androidpublisher#subscriptionPurchaseV2\"")
        if let first = life.charges.first {
            json.raw(",\"startTime\":")
            json.time(first.start)
        }
        json.raw(",\"regionCode\":\"PT\",\"subscriptionState\":\"SUBSCRIPTION_STATE_")
        json.raw(state.name)
        json.raw("\",\"latestOrderId\":")
        let pending = order(purchase, number: life.charges.count)
        json.plain(state.isUnpaid ? pending : order(purchase, number: life.charges.count - 1))
        if let replaced = purchase.replaces {
            json.raw(",\"linkedPurchaseToken\":")
            json.string(replaced)
        }
        appendContext(life, state, pending, now, to: &json)
        if purchase.environment == .sandbox { json.raw(",\"testPurchase\":{}") }
        json.raw(",\"acknowledgementState\":\"ACKNOWLEDGEMENT_STATE_")
        let isAcknowledged = life.latest != nil && life.isAcknowledged
        json.raw(isAcknowledged ? "ACKNOWLEDGED\"" : "PENDING\"")
        if let expired = purchase.resubscribes, !isAcknowledged {
            json.raw(",\"outOfAppPurchaseContext\":{\"expiredPurchaseToken\":")
            json.string(expired)
            json.raw("}")
        }
        if let user = purchase.user {
            json.raw(",\"externalAccountIdentifiers\":{\"obfuscatedExternalAccountId\":")
            json.string(user)
            json.raw("}")
        }
        appendLineItems(purchase, life, state, now, to: &json)
        json.raw(",\"etag\":")
        json.plain(etag(purchase, life, state))
        json.raw("}")
        return json
    }

    /// First the base id, then `..0` for the first renewal.
    static func order(_ purchase: Purchase, number: Int) -> String {
        number < 1 ? purchase.order : "\(purchase.order)..\(number - 1)"
    }

    /// State, and the end of access that goes with it.
    struct State {
        var name: StaticString
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

    private static func appendContext(
        _ life: Life, _ state: State, _ pending: String, _ now: Instant, to json: inout JSONText
    ) {
        switch life.phase {
        case .pending, .abandoned, .silent: break
        case .running where life.autoRenews || life.plan == .prepaid: break
        case .running: appendUserCancellation(life, to: &json)
        case .ended(_, .expired) where life.plan == .prepaid: break
        case .grace, .hold:
            if case .hold = life.phase {
                json.raw(",\"onHoldStateContext\":{\"renewalDeclined\":{\"pendingOrderId\":")
            } else {
                json.raw(",\"inGracePeriodStateContext\":{\"renewalDeclined\":{\"pendingOrderId\":")
            }
            json.plain(pending)
            json.raw("}}")
        case .paused(let until):
            json.raw(",\"pausedStateContext\":{\"autoResumeTime\":")
            json.time(until)
            json.raw("}")
        case .ended(_, .cancelled), .ended(_, .expired):
            appendUserCancellation(life, to: &json)
        case .ended(_, .paymentFailed), .ended(_, .priceDeclined), .ended(_, .unavailable):
            json.raw(",\"canceledStateContext\":{\"systemInitiatedCancellation\":{}}")
        case .ended(_, .refunded), .ended(_, .revoked):
            json.raw(",\"canceledStateContext\":{\"developerInitiatedCancellation\":{}}")
        case .ended(_, .replaced):
            json.raw(",\"canceledStateContext\":{\"replacementCancellation\":{}}")
        }
    }

    private static func appendUserCancellation(_ life: Life, to json: inout JSONText) {
        json.raw(",\"canceledStateContext\":{\"userInitiatedCancellation\":{")
        if let instant = life.autoRenewChangedAt {
            json.raw("\"cancelTime\":")
            json.time(instant)
        }
        json.raw("}}")
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
        state.name.withUTF8Buffer { name in
            for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
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

    static var emptyObject: JSONText {
        var json = JSONText(capacity: 2)
        json.raw("{}")
        return json
    }

    /// The error envelope: `{"error":{"code":…,"message":…,"errors":[{…}]}}`.
    static func refusal(
        _ code: Int, _ reason: StaticString, _ message: String,
        domain: StaticString = "androidpublisher", location: StaticString? = nil,
        status: StaticString? = nil
    ) -> Reply {
        var json = JSONText(capacity: 400)
        json.raw("{\"error\":{\"code\":")
        json.number(Int64(code))
        json.raw(",\"message\":")
        json.string(message)
        json.raw(",\"errors\":[{\"message\":")
        json.string(message)
        json.raw(",\"domain\":\"")
        json.raw(domain)
        json.raw("\",\"reason\":\"")
        json.raw(reason)
        json.raw("\"")
        if let location {
            json.raw(",\"location\":\"")
            json.raw(location)
            json.raw("\",\"locationType\":\"parameter\"")
        }
        json.raw("}]")
        if let status {
            json.raw(",\"status\":\"")
            json.raw(status)
            json.raw("\"")
        }
        json.raw("}}")
        return Reply(code, json)
    }
}
