import NIOCore

/// The verbs behind a colon of Google's purchase endpoints.
enum GoogleVerb: String, CaseIterable {
    case cancel
    case revoke
    case refund
    case `defer`
    case acknowledge
    case consume
}

/// The bodies of writing calls. All members are optional on the wire.
private struct GoogleWrite: Decodable {
    struct Accounts: Decodable {
        var obfuscatedAccountId: String?
    }

    struct Revocation: Decodable {
        struct Item: Decodable {
            var productId: String?
        }

        var itemBasedRefund: Item?
    }

    struct Deferral: Decodable {
        var deferDuration: String?
        var etag: String?
        var validateOnly: Bool?
    }

    var developerPayload: String?
    var externalAccountIds: Accounts?
    var revocationContext: Revocation?
    var deferralContext: Deferral?
}

/// The calls that change a purchase.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2
enum GoogleWrites {
    static func write(
        _ verb: GoogleVerb, _ purchase: Purchase, _ life: Life, _ now: Instant,
        _ request: Request, _ world: inout World
    ) -> Reply {
        guard let body = request.decodeOrEmpty(GoogleWrite.self) else {
            return Failures.status(400, .google)
        }
        let number = purchase.number
        switch verb {
        case .acknowledge, .consume: return acknowledge(verb, number, life, now, body, &world)
        case .defer: return postpone(purchase, life, now, body, &world)
        case .cancel: return perform(.cancel, number, life, now, &world)
        case .refund: return perform(.refundMoney, number, life, now, &world)
        case .revoke:
            guard let item = body.revocationContext?.itemBasedRefund else {
                return perform(.revoke, number, life, now, &world)
            }
            return perform(
                .revokeItem(product: item.productId ?? ""), number, life, now, &world)
        }
    }

    private static func perform(
        _ deed: Deed, _ number: Int, _ life: Life, _ now: Instant, _ world: inout World
    ) -> Reply {
        guard life.objection(to: deed, store: .google) == nil else { return wrongState }
        world.add(deed, to: number, at: now)
        return Reply(200, .emptyObject)
    }

    private static var wrongState: Reply {
        Google.refusal(400, "invalidPurchaseState", "The purchase is not in a valid state.")
    }

    /// Acknowledging again is no error; what is gone or not paid cannot be acknowledged.
    private static func acknowledge(
        _ verb: GoogleVerb, _ number: Int, _ life: Life, _ now: Instant, _ body: GoogleWrite,
        _ world: inout World
    ) -> Reply {
        switch life.phase {
        case .pending, .abandoned: return wrongState
        case .ended(_, .refunded), .ended(_, .revoked), .ended(_, .replaced):
            let message = "The purchase is not owned by the user."
            return life.isRenewable
                ? Google.refusal(400, "subscriptionNotOwnedByUser", message)
                : Google.refusal(400, "productNotOwnedByUser", message)
        case .running, .silent, .grace, .hold, .paused, .ended: break
        }
        if verb == .consume {
            guard life.kind == .consumable, !life.isConsumed else { return wrongState }
            world.add(.consume, to: number, at: now)
        } else if !life.isAcknowledged {
            world.add(.acknowledge, to: number, at: now)
        }
        world.change(number) { purchase in
            purchase.developerPayload = body.developerPayload ?? purchase.developerPayload
            // Only who bought in Play can still be told apart by what comes now.
            if purchase.resubscribes != nil {
                purchase.acknowledgedUser =
                    body.externalAccountIds?.obfuscatedAccountId ?? purchase.acknowledgedUser
            }
        }
        return Reply(204, ByteBuffer())
    }

    /// All items end later, by a day to a year.
    private static func postpone(
        _ purchase: Purchase, _ life: Life, _ now: Instant, _ body: GoogleWrite,
        _ world: inout World
    ) -> Reply {
        guard let context = body.deferralContext, let text = context.deferDuration,
            text.last == "s", let seconds = Int64(text.dropLast()),
            (86_400...366 * 86_400).contains(seconds), let latest = life.latest
        else { return Failures.status(400, .google) }
        if let etag = context.etag, etag != Google.etag(purchase, life, at: now) {
            let message = "The etag does not match the current state of the purchase."
            return Google.refusal(409, "concurrentUpdate", message)
        }
        let deed = Deed.extend(Period(milliseconds: seconds * Instant.second))
        guard life.objection(to: deed, store: .google) == nil, life.isEntitled else {
            return wrongState
        }
        if context.validateOnly != true { world.add(deed, to: purchase.number, at: now) }
        let answer = JSON.object { json in
            json.objects("itemExpiryTimeDetails", [latest]) { json, latest in
                json.member("productId", latest.product)
                json.member("expiryTime", latest.end + seconds * Instant.second)
            }
        }
        return Reply(200, answer)
    }
}
