/// What `verifyReceipt` says of a receipt. Numbers and truth values are texts, dates come three
/// times.
///
/// https://developer.apple.com/documentation/appstorereceipts/responsebody
struct ReceiptAnswer {
    /// A purchase of the customer and its life now.
    struct Entry {
        var purchase: Purchase
        var life: Life
    }

    var reference: ReceiptReference
    /// What the receipt itself names, as it was when the receipt was made.
    var items: [AppReceipt.Item]
    /// All purchases of the customer.
    var entries: [Entry]
    var now: Instant
    var excludesOld: Bool
    /// Base64 of a receipt as of now; empty when there is none to give.
    var latestReceipt: [UInt8]

    /// `{"status":21002}`, with the environment where the sandbox adds it.
    static func status(
        _ status: Int64, environment: StaticString? = nil, isRetryable: Bool? = nil
    ) -> JSONText {
        var json = JSONText(capacity: 80)
        json.raw("{")
        if let environment {
            json.raw("\"environment\":\"")
            json.raw(environment)
            json.raw("\",")
        }
        json.raw("\"status\":")
        json.number(status)
        if let isRetryable {
            json.raw(",\"is_retryable\":")
            json.boolean(isRetryable)
        }
        json.raw("}")
        return json
    }

    func body() -> JSONText {
        switch reference.style {
        case .app: appBody()
        case .transaction: transactionBody()
        }
    }

    private var environmentName: String {
        reference.environment == .production ? "Production" : "Sandbox"
    }

    var holdsRenewable: Bool {
        items.contains { $0.purchase.timeline.terms.kind == .autoRenewable }
    }
}

// iOS 7 and later.
extension ReceiptAnswer {
    private func appBody() -> JSONText {
        var json = JSONText(capacity: 8000)
        json.raw("{\"status\":0,\"environment\":")
        json.plain(environmentName)
        json.raw(",\"receipt\":{")
        appendReceipt(to: &json)
        json.raw("}")
        if holdsRenewable {
            json.raw(",\"latest_receipt_info\":[")
            for (index, pair) in latestTransactions.enumerated() {
                if index > 0 { json.raw(",") }
                append(pair.purchase, pair.charge, life: pair.life, to: &json)
            }
            json.raw("],\"latest_receipt\":\"")
            json.ready(latestReceipt)
            json.raw("\",\"pending_renewal_info\":[")
            var isFirst = true
            for entry in entries where entry.life.isRenewable && entry.life.latest != nil {
                if !isFirst { json.raw(",") }
                isFirst = false
                appendRenewal(entry, to: &json)
            }
            json.raw("]")
        }
        json.raw("}")
        return json
    }

    private func appendReceipt(to json: inout JSONText) {
        let isSandbox = reference.environment == .sandbox
        let number = { (value: Int64) in isSandbox ? 0 : value }
        json.raw("\"receipt_type\":")
        json.plain(isSandbox ? "ProductionSandbox" : "Production")
        json.raw(",\"adam_id\":")
        json.number(number(Apple.appID))
        json.raw(",\"app_item_id\":")
        json.number(number(Apple.appID))
        json.raw(",\"bundle_id\":")
        json.string(reference.bundle)
        json.raw(",\"application_version\":")
        json.plain(AppReceipt.appVersion)
        json.raw(",\"download_id\":")
        json.number(number(AppReceipt.downloadID))
        json.raw(",\"version_external_identifier\":")
        json.number(number(AppReceipt.versionID))
        json.dates("receipt_creation_date", reference.created)
        json.dates("request_date", now)
        json.dates(
            "original_purchase_date",
            isSandbox
                ? Instant(milliseconds: 1_375_340_400_000)
                : AppReceipt.installed(items.map(\.purchase)))
        json.raw(",\"original_application_version\":")
        json.plain(isSandbox ? "1.0" : AppReceipt.originalVersion)
        json.raw(",\"in_app\":[")
        for (index, item) in items.enumerated() {
            if index > 0 { json.raw(",") }
            append(item.purchase, item.charge, life: nil, to: &json)
        }
        json.raw("]")
    }

    private typealias Latest = (purchase: Purchase, charge: Charge, life: Life)

    /// All transactions but those of consumables that were used, in no order that means anything.
    private var latestTransactions: [Latest] {
        let shown = entries.filter { !$0.life.isConsumed }
        let all = shown.flatMap { entry -> [Latest] in
            let newest =
                excludesOld && entry.life.isRenewable
                ? entry.life.charges.suffix(1)[...]
                : entry.life.charges[...]
            return newest.map { (entry.purchase, $0, entry.life) }
        }
        return all.sorted { Self.place($0) < Self.place($1) }
    }

    /// The same order in every answer, and yet not that of time.
    private static func place(_ latest: Latest) -> UInt64 {
        let id = AppleNumbers.transaction(latest.purchase, charge: latest.charge.number)
        var chance = Seeded(seed: UInt64(bitPattern: id))
        return chance.next()
    }

    /// One transaction; `life` is nil for what the receipt itself holds.
    private func append(
        _ purchase: Purchase, _ charge: Charge, life: Life?, to json: inout JSONText
    ) {
        let isRenewable = purchase.timeline.terms.kind == .autoRenewable
        json.raw("{\"quantity\":")
        json.quoted(Int64(charge.quantity))
        json.raw(",\"product_id\":")
        json.string(charge.product)
        json.raw(",\"transaction_id\":")
        json.quoted(AppleNumbers.transaction(purchase, charge: charge.number))
        json.raw(",\"original_transaction_id\":")
        json.plain(purchase.token)
        json.dates("purchase_date", charge.start)
        json.dates("original_purchase_date", purchase.timeline.start)
        if isRenewable {
            json.dates("expires_date", charge.end)
            json.raw(",\"web_order_line_item_id\":")
            json.quoted(AppleNumbers.lineItem(purchase, charge: charge.number))
        }
        json.raw(",\"is_trial_period\":\"")
        json.boolean(charge.isTrial)
        if isRenewable {
            json.raw("\",\"is_in_intro_offer_period\":\"")
            json.boolean(charge.isIntroductory)
        }
        json.raw("\"")
        appendCancellation(charge, life, to: &json)
        if let offer = charge.offer, let id = offer.id, offer.kind != .introductory {
            json.raw(
                offer.kind == .code ? ",\"offer_code_ref_name\":" : ",\"promotional_offer_id\":")
            json.string(id)
        }
        json.raw(",\"in_app_ownership_type\":")
        let isShared = purchase.isFamilyShared || charge.givenBack?.cause == .revoke
        json.plain(isShared ? "FAMILY_SHARED" : "PURCHASED")
        if life != nil, isRenewable {
            json.raw(",\"subscription_group_identifier\":")
            json.string(purchase.group)
        }
        if let user = purchase.user, !isShared, Apple.isUUID(user) {
            json.raw(",\"app_account_token\":")
            json.string(user)
        }
        json.raw("}")
    }

    /// An upgraded transaction was cancelled when the next one was bought.
    private func appendCancellation(_ charge: Charge, _ life: Life?, to json: inout JSONText) {
        var instant = charge.givenBack?.at
        if charge.isUpgraded, let charges = life?.charges,
            charges.indices.contains(charge.number + 1)
        {
            instant = instant ?? charges[charge.number + 1].paidAt
        }
        if let instant {
            json.dates("cancellation_date", instant)
            json.raw(",\"cancellation_reason\":")
            json.quoted(charge.givenBack?.reason ?? 0)
        }
        if charge.isUpgraded, life != nil { json.raw(",\"is_upgraded\":\"true\"") }
    }

    private func appendRenewal(_ entry: Entry, to json: inout JSONText) {
        let product = entry.life.latest?.product ?? entry.purchase.timeline.product
        json.raw("{\"auto_renew_product_id\":")
        json.string(entry.life.productAtRenewal ?? product)
        json.raw(",\"product_id\":")
        json.string(product)
        json.raw(",\"original_transaction_id\":")
        json.plain(entry.purchase.token)
        json.raw(",\"auto_renew_status\":")
        json.quoted(entry.life.autoRenews ? 1 : 0)
        appendExpiration(entry.life, to: &json)
        if case .grace(_, let until) = entry.life.phase {
            json.dates("grace_period_expires_date", until)
        }
        switch entry.life.priceIncrease {
        case .asked: json.raw(",\"price_consent_status\":\"0\",\"price_increase_status\":\"0\"")
        case .accepted: json.raw(",\"price_consent_status\":\"1\",\"price_increase_status\":\"1\"")
        case nil: break
        }
        json.raw("}")
    }

    /// Why it expired, and whether Apple still tries.
    private func appendExpiration(_ life: Life, to json: inout JSONText) {
        guard let intent = Self.intent(life.phase) else { return }
        json.raw(",\"expiration_intent\":")
        json.quoted(intent.reason)
        json.raw(",\"is_in_billing_retry_period\":")
        json.quoted(intent.isRetrying ? 1 : 0)
    }

    private static func intent(_ phase: Phase) -> (reason: Int64, isRetrying: Bool)? {
        switch phase {
        case .pending, .abandoned, .running, .silent, .paused: nil
        case .grace, .hold: (2, true)
        case .ended(_, .paymentFailed): (2, false)
        case .ended(_, .priceDeclined): (3, false)
        case .ended(_, .unavailable): (4, false)
        case .ended(_, .expired): (5, false)
        case .ended: (1, false)
        }
    }
}

// iOS 6.
extension ReceiptAnswer {
    /// While grace runs the newest expiry is past, and yet the subscription has not expired.
    private func transactionBody() -> JSONText {
        var json = JSONText(capacity: 6000)
        guard let item = items.first else { return Self.status(21_002) }
        let entry = entries.first { $0.purchase.number == item.purchase.number }
        let isExpired = entry.map { Self.hasExpired($0.life, at: now) } ?? false
        json.raw("{\"status\":")
        json.number(isExpired ? 21_006 : 0)
        if let entry, entry.life.isRenewable, let latest = entry.life.latest {
            json.raw(",\"auto_renew_status\":")
            json.number(entry.life.autoRenews ? 1 : 0)
            json.raw(",\"auto_renew_product_id\":")
            json.string(entry.life.productAtRenewal ?? latest.product)
            appendExpiration(entry.life, to: &json)
            json.raw(isExpired ? ",\"latest_expired_receipt_info\":" : ",\"latest_receipt_info\":")
            appendObject(entry.purchase, latest, to: &json)
            if !isExpired {
                json.raw(",\"latest_receipt\":\"")
                json.ready(latestReceipt)
                json.raw("\"")
            }
        }
        json.raw(",\"receipt\":")
        appendObject(item.purchase, item.charge, to: &json)
        json.raw("}")
        return json
    }

    private static func hasExpired(_ life: Life, at now: Instant) -> Bool {
        guard life.isRenewable, let latest = life.latest, latest.end <= now else { return false }
        if case .grace = life.phase { return false }
        return true
    }

    /// The members of a transaction receipt, with underscores.
    private func appendObject(_ purchase: Purchase, _ charge: Charge, to json: inout JSONText) {
        json.raw("{")
        for (index, pair) in TransactionReceipt.pairs(purchase, charge).enumerated() {
            if index > 0 { json.raw(",") }
            json.plain(pair.0.replacing("-", with: "_"))
            json.raw(":")
            json.string(pair.1)
        }
        if purchase.timeline.terms.kind == .autoRenewable {
            json.raw(",\"is_trial_period\":\"")
            json.boolean(charge.isTrial)
            json.raw("\",\"is_in_intro_offer_period\":\"")
            json.boolean(charge.isIntroductory)
            json.raw("\"")
        }
        if let givenBack = charge.givenBack {
            json.dates("cancellation_date", givenBack.at)
            json.raw(",\"cancellation_reason\":")
            json.quoted(givenBack.reason ?? 0)
        }
        json.raw("}")
    }
}

extension JSONText {
    /// A date as legacy receipts have it: in Greenwich, in milliseconds and in Los Angeles.
    fileprivate mutating func dates(_ name: StaticString, _ instant: Instant) {
        raw(",\"")
        raw(name)
        raw("\":")
        plain(instant.greenwichText)
        raw(",\"")
        raw(name)
        raw("_ms\":")
        quoted(instant.milliseconds)
        raw(",\"")
        raw(name)
        raw("_pst\":")
        plain(instant.losAngelesText)
    }
}
