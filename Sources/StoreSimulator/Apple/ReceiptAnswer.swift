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
        _ status: Int64, environment: String? = nil, isRetryable: Bool? = nil
    ) -> JSON {
        .object(capacity: 80) { json in
            json.member("environment", environment)
            json.member("status", status)
            json.member("is_retryable", isRetryable)
        }
    }

    func body() -> JSON {
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
    private func appBody() -> JSON {
        .object(capacity: 8000) { json in
            json.member("status", 0)
            json.member("environment", environmentName)
            json.object("receipt", receipt)
            guard holdsRenewable else { return }
            json.objects("latest_receipt_info", latestTransactions) { json, latest in
                transaction(latest.purchase, latest.charge, life: latest.life, to: &json)
            }
            json.member("latest_receipt", plain: latestReceipt)
            let renewals = entries.filter { $0.life.isRenewable && $0.life.latest != nil }
            json.objects("pending_renewal_info", renewals) { renewal($1, to: &$0) }
        }
    }

    private func receipt(to json: inout JSONWriter) {
        let isSandbox = reference.environment == .sandbox
        let number = { (value: Int64) in isSandbox ? 0 : value }
        json.member("receipt_type", isSandbox ? "ProductionSandbox" : "Production")
        json.member("adam_id", number(Apple.appID))
        json.member("app_item_id", number(Apple.appID))
        json.member("bundle_id", reference.bundle)
        json.member("application_version", AppReceipt.appVersion)
        json.member("download_id", number(AppReceipt.downloadID))
        json.member("version_external_identifier", number(AppReceipt.versionID))
        json.dates("receipt_creation_date", reference.created)
        json.dates("request_date", now)
        json.dates(
            "original_purchase_date",
            isSandbox
                ? Instant(milliseconds: 1_375_340_400_000)
                : AppReceipt.installed(items.map(\.purchase)))
        json.member("original_application_version", isSandbox ? "1.0" : AppReceipt.originalVersion)
        json.objects("in_app", items) { json, item in
            transaction(item.purchase, item.charge, life: nil, to: &json)
        }
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
    private func transaction(
        _ purchase: Purchase, _ charge: Charge, life: Life?, to json: inout JSONWriter
    ) {
        let isRenewable = purchase.timeline.terms.kind == .autoRenewable
        let isShared = purchase.isFamilyShared || charge.givenBack?.cause == .revoke
        json.member("quantity", quoted: Int64(charge.quantity))
        json.member("product_id", charge.product)
        json.member(
            "transaction_id", quoted: AppleNumbers.transaction(purchase, charge: charge.number))
        json.member("original_transaction_id", purchase.token)
        json.dates("purchase_date", charge.start)
        json.dates("original_purchase_date", purchase.timeline.start)
        if isRenewable {
            json.dates("expires_date", charge.end)
            json.member(
                "web_order_line_item_id",
                quoted: AppleNumbers.lineItem(purchase, charge: charge.number))
        }
        json.member("is_trial_period", "\(charge.isTrial)")
        if isRenewable { json.member("is_in_intro_offer_period", "\(charge.isIntroductory)") }
        cancellation(charge, life, to: &json)
        if let offer = charge.offer, offer.kind != .introductory {
            json.member(
                offer.kind == .code ? "offer_code_ref_name" : "promotional_offer_id", offer.id)
        }
        json.member("in_app_ownership_type", isShared ? "FAMILY_SHARED" : "PURCHASED")
        if life != nil, isRenewable {
            json.member("subscription_group_identifier", purchase.group)
        }
        if let user = purchase.user, !isShared, Apple.isUUID(user) {
            json.member("app_account_token", user)
        }
    }

    /// An upgraded transaction was cancelled when the next one was bought.
    private func cancellation(_ charge: Charge, _ life: Life?, to json: inout JSONWriter) {
        var instant = charge.givenBack?.at
        if charge.isUpgraded, let charges = life?.charges,
            charges.indices.contains(charge.number + 1)
        {
            instant = instant ?? charges[charge.number + 1].paidAt
        }
        if let instant {
            json.dates("cancellation_date", instant)
            json.member("cancellation_reason", quoted: charge.givenBack?.reason ?? 0)
        }
        if charge.isUpgraded, life != nil { json.member("is_upgraded", "true") }
    }

    private func renewal(_ entry: Entry, to json: inout JSONWriter) {
        let product = entry.life.latest?.product ?? entry.purchase.timeline.product
        json.member("auto_renew_product_id", entry.life.productAtRenewal ?? product)
        json.member("product_id", product)
        json.member("original_transaction_id", entry.purchase.token)
        json.member("auto_renew_status", quoted: entry.life.autoRenews ? 1 : 0)
        expiration(entry.life, to: &json)
        if case .grace(_, let until) = entry.life.phase {
            json.dates("grace_period_expires_date", until)
        }
        if let increase = entry.life.priceIncrease {
            json.member("price_consent_status", increase == .asked ? "0" : "1")
            json.member("price_increase_status", increase == .asked ? "0" : "1")
        }
    }

    /// Why it expired, and whether Apple still tries.
    private func expiration(_ life: Life, to json: inout JSONWriter) {
        guard let expiration = Apple.expiration(life.phase) else { return }
        json.member("expiration_intent", quoted: expiration.intent)
        json.member("is_in_billing_retry_period", quoted: expiration.isRetrying ? 1 : 0)
    }
}

// iOS 6.
extension ReceiptAnswer {
    /// While grace runs the newest expiry is past, and yet the subscription has not expired.
    private func transactionBody() -> JSON {
        guard let item = items.first else { return Self.status(21_002) }
        let entry = entries.first { $0.purchase.number == item.purchase.number }
        let isExpired = entry.map { Self.hasExpired($0.life, at: now) } ?? false
        return .object(capacity: 6000) { json in
            json.member("status", isExpired ? 21_006 : 0)
            if let entry, entry.life.isRenewable, let latest = entry.life.latest {
                json.member("auto_renew_status", entry.life.autoRenews ? 1 : 0)
                json.member(
                    "auto_renew_product_id", entry.life.productAtRenewal ?? latest.product)
                expiration(entry.life, to: &json)
                json.object(isExpired ? "latest_expired_receipt_info" : "latest_receipt_info") {
                    members(of: entry.purchase, latest, to: &$0)
                }
                if !isExpired { json.member("latest_receipt", plain: latestReceipt) }
            }
            json.object("receipt") { members(of: item.purchase, item.charge, to: &$0) }
        }
    }

    private static func hasExpired(_ life: Life, at now: Instant) -> Bool {
        guard life.isRenewable, let latest = life.latest, latest.end <= now else { return false }
        if case .grace = life.phase { return false }
        return true
    }

    /// The members of a transaction receipt, with underscores.
    private func members(
        of purchase: Purchase, _ charge: Charge, to json: inout JSONWriter
    ) {
        for (name, value) in TransactionReceipt.pairs(purchase, charge) {
            json.member(name.replacing("-", with: "_"), value)
        }
        if purchase.timeline.terms.kind == .autoRenewable {
            json.member("is_trial_period", "\(charge.isTrial)")
            json.member("is_in_intro_offer_period", "\(charge.isIntroductory)")
        }
        if let givenBack = charge.givenBack {
            json.dates("cancellation_date", givenBack.at)
            json.member("cancellation_reason", quoted: givenBack.reason ?? 0)
        }
    }
}

extension JSONWriter {
    /// A date as legacy receipts have it: in Greenwich, in milliseconds and in Los Angeles.
    fileprivate mutating func dates(_ name: String, _ instant: Instant) {
        member(name, instant.greenwichText)
        member(name + "_ms", quoted: instant.milliseconds)
        member(name + "_pst", instant.losAngelesText)
    }
}
