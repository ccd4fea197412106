import Renewal

/// Reads an authentic answer of verifyReceipt: which of the customer's transactions the purchase
/// is, and where it stands. The answer tells dates, not states: they are compared with the time
/// that it was made.
struct AppleReceiptReader: Sendable {
    let bundleID: AppID
    /// The environment whose host has answered.
    let environment: StoreEnvironment
    let facts: Facts
    /// What the receipt says of itself.
    let local: AppleReceipt?
    /// Status 21006.
    let hasExpired: Bool
    let now: Timestamp

    func answer(_ response: AppleReceiptResponse) throws(StoreFailure) -> Answer {
        let pool = Self.pool(response)
        try checkApp(response, pool)
        guard response.environment ?? environment.appleName == environment.appleName else {
            throw .mismatch(what: "environment")
        }
        let window = DateWindow(now: now)
        let stated = try window.date(
            milliseconds: response.receipt?.requestedAt.map { Int64($0.value) ?? 0 },
            field: "receipt.request_date_ms")
        guard let own = own(in: pool) else {
            guard !hasExpired || !pool.isEmpty else { throw .malformed(field: "receipt") }
            return .doubt(.notFound)
        }
        let chain = try AppleReceiptChain(
            of: own, in: pool, pending: response, window: window, stated: stated)
        var observation = try chain.observation(
            in: environment, kind: kind(of: own), hasExpired: hasExpired, at: stated ?? now)
        observation.originalID = facts.originalID ?? observation.originalID
        observation.nextToken = nextToken(response)
        return .verdict(observation)
    }

    /// All transactions, each once: the list of the latest is the fresher one.
    private static func pool(_ response: AppleReceiptResponse) -> [AppleReceiptTransaction] {
        var seen: Set<OrderID> = []
        let all =
            response.latest.all + response.latestExpired.all + (response.receipt?.inApp ?? [])
            + (response.receipt?.own.map { [$0] } ?? [])
        return all.filter { transaction in
            transaction.transactionID.map { seen.insert($0).inserted } ?? false
        }
    }

    /// Apple compares the app with nothing: a receipt of any other is as authentic.
    private func checkApp(
        _ response: AppleReceiptResponse, _ pool: [AppleReceiptTransaction]
    ) throws(StoreFailure) {
        let names = [response.receipt?.bundleID] + pool.map(\.bundleID)
        let apps = Set(names.compactMap { $0 })
        guard !apps.isEmpty else { throw .malformed(field: "receipt.bundle_id") }
        guard apps == [bundleID] else { throw .mismatch(what: "app") }
    }

    /// By the original id, else the newest of the product, else what has taken its place in the
    /// group. An iOS 6 receipt holds one subscription, whatever it has changed to.
    private func own(in pool: [AppleReceiptTransaction]) -> AppleReceiptTransaction? {
        if let id = facts.originalID {
            return newest(pool.filter { $0.originalID == id || $0.transactionID == id })
                ?? facts.group.flatMap { group in newest(pool.filter { $0.group == group }) }
        }
        return newest(pool.filter { $0.productID == facts.product })
            ?? (Set(pool.map(\.originalID)).count == 1 ? newest(pool) : nil)
    }

    private func newest(_ transactions: [AppleReceiptTransaction]) -> AppleReceiptTransaction? {
        transactions.max {
            ($0.purchased ?? 0, $0.expires ?? 0) < ($1.purchased ?? 0, $1.expires ?? 0)
        }
    }

    /// The answer does not tell the kinds of one-time products apart.
    private func kind(of own: AppleReceiptTransaction) -> ProductKind {
        guard own.expires == nil else { return .autoRenewable }
        let told = local?.purchases.first { $0.transactionID == own.transactionID }?.kind
        return [told, facts.kind].compactMap { $0 }.first { $0 != .autoRenewable }
            ?? .nonConsumable
    }

    /// The newest receipt, to be sent next time. One that holds the same transactions is as good
    /// as what is stored, which so need not be written anew after each check.
    private func nextToken(_ response: AppleReceiptResponse) -> StoreToken? {
        guard let text = response.latestReceipt,
            case .receipt(let file)? = try? AppleIdentifier(token: StoreToken(text))
        else { return nil }
        if let local, let newer = try? AppleReceipt(file), !local.transactionIDs.isEmpty,
            newer.transactionIDs == local.transactionIDs
        {
            return nil
        }
        return StoreToken(file.base64)
    }
}

/// One subscription or one-time product of an answer, over all its transactions.
private struct AppleReceiptChain {
    private let members: [Member]
    private let pending: AppleReceiptResponse.Pending?
    private let graceEnd: Timestamp?
    private let stated: Timestamp?

    /// A transaction, its dates checked.
    private struct Member {
        let wire: AppleReceiptTransaction
        let purchased: Timestamp?
        let expires: Timestamp?
        let cancelled: Timestamp?

        /// Paid, and neither taken back nor replaced.
        var counts: Bool { cancelled == nil && !wire.isUpgraded }

        var phase: Phase {
            if wire.isTrial { return .trial }
            return wire.isIntroductory ? .introductory : .regular
        }

        static func isBefore(_ left: Member, _ right: Member) -> Bool {
            let early = Timestamp(microsecondsSinceEpoch: 0)
            return (left.expires ?? left.purchased ?? early, left.purchased ?? early)
                < (right.expires ?? right.purchased ?? early, right.purchased ?? early)
        }
    }

    init(
        of own: AppleReceiptTransaction, in pool: [AppleReceiptTransaction],
        pending response: AppleReceiptResponse, window: DateWindow, stated: Timestamp?
    ) throws(StoreFailure) {
        var members: [Member] = []
        for wire in pool where Self.belongs(wire, to: own) {
            members.append(
                Member(
                    wire: wire,
                    purchased: try window.date(
                        milliseconds: wire.originalID == wire.transactionID
                            ? wire.purchased : wire.originallyPurchased ?? wire.purchased,
                        field: "purchase_date_ms"),
                    expires: try window.date(
                        milliseconds: wire.expires, field: "expires_date_ms"),
                    cancelled: try window.date(
                        milliseconds: wire.cancelled, field: "cancellation_date_ms")))
        }
        self.members = members
        self.stated = stated
        let ids = Set(members.compactMap(\.wire.originalID))
        let products = Set(members.compactMap(\.wire.productID))
        let entries = response.pending.filter { entry in
            entry.originalID.map { ids.contains(OrderID($0.value)) } ?? true
                && entry.productID.map(products.contains) ?? true
        }
        let latest = members.max(by: Member.isBefore)?.wire.productID
        pending =
            entries.first { $0.productID == latest } ?? entries.first
            ?? (response.pending.isEmpty ? response.ownPending : nil)
        graceEnd = try window.date(
            milliseconds: pending?.graceEnd.map { Int64($0.value) ?? 0 },
            field: "pending_renewal_info.grace_period_expires_date_ms")
    }

    /// Periods of a subscription share its original id; in a group they may have several.
    private static func belongs(
        _ other: AppleReceiptTransaction, to own: AppleReceiptTransaction
    ) -> Bool {
        if other.originalID ?? other.transactionID == own.originalID ?? own.transactionID {
            return (other.expires == nil) == (own.expires == nil)
        }
        guard own.expires != nil, other.expires != nil, let group = own.group else { return false }
        return other.group == group
    }

    private var latest: Member? { members.max(by: Member.isBefore) }
    private var latestCounting: Member? { members.filter(\.counts).max(by: Member.isBefore) }

    func observation(
        in environment: StoreEnvironment, kind: ProductKind, hasExpired: Bool,
        at instant: Timestamp
    ) throws(StoreFailure) -> Observation {
        guard let latest else { throw .malformed(field: "latest_receipt_info") }
        let running = latestCounting.flatMap { $0.expires.map { $0 > instant } ?? true ? $0 : nil }
        let notUpgraded = members.filter { !$0.wire.isUpgraded }.max(by: Member.isBefore)
        let shown = running ?? notUpgraded ?? latest
        guard let product = shown.wire.productID, !product.isEmpty else {
            throw .malformed(field: "product_id")
        }
        let standing = standing(
            shown, isRunning: running != nil, hasExpired: hasExpired, at: instant)
        let end = standing == .grace(expiryMovedUnpaid: false) ? graceEnd : shown.expires
        return Observation(
            environment: environment, kind: kind, standing: standing,
            items: [Item(names: [product], expiresAt: end)],
            originalID: shown.wire.originalID ?? shown.wire.transactionID,
            orderID: shown.wire.transactionID,
            period: shown.wire.lineItem ?? shown.wire.transactionID, paidThrough: shown.expires,
            expiresAt: end,
            willRenew: shown.expires == nil ? false : pending?.autoRenewStatus?.isSet,
            phase: shown.phase, purchasedAt: shown.purchased,
            signals: signals(shown, isRunning: running != nil), group: shown.wire.group,
            usedIntroductory: usedIntroductory, statedAt: stated,
            words: words(shown, graceEnd))
    }

    private func standing(
        _ shown: Member, isRunning: Bool, hasExpired: Bool, at instant: Timestamp
    ) -> Standing {
        if isRunning, !hasExpired { return .active }
        if let cancelled = shown.cancelled, !shown.wire.isUpgraded {
            return shown.wire.ownership == "FAMILY_SHARED"
                ? .removedFromFamily(at: cancelled) : .refunded(at: cancelled)
        }
        if shown.wire.isUpgraded { return .replaced(at: shown.cancelled) }
        if let graceEnd, graceEnd > instant { return .grace(expiryMovedUnpaid: false) }
        if pending?.isInBillingRetry?.isSet == true { return .hold }
        // Just at a renewal the new period may not be shown yet: nothing says that it is over.
        if !hasExpired, pending?.expirationIntent == nil, pending?.autoRenewStatus?.isSet != false,
            let expires = shown.expires, instant < expires + Self.renewalLag
        {
            return .active
        }
        return .ended(endCause, at: shown.expires)
    }

    private var endCause: EndCause {
        switch pending?.expirationIntent?.value {
        case "1": .userCancelled
        case "2": .paymentFailed
        case "3": .priceIncreaseDeclined
        case "4": .productUnavailable
        default: .periodEnded
        }
    }

    private func signals(_ shown: Member, isRunning: Bool) -> Set<Signal> {
        guard isRunning, shown.expires != nil else { return [] }
        var signals: Set<Signal> = []
        if pending?.priceConsent?.isSet == false || pending?.priceIncrease?.isSet == false {
            signals.insert(.priceIncreasePending)
        }
        if let pending, pending.autoRenewStatus?.isSet == true,
            let next = pending.autoRenewProductID, next != shown.wire.productID,
            pending.productID ?? shown.wire.productID == shown.wire.productID
        {
            signals.insert(.productChangeScheduled)
        }
        // An upgrade takes the old period back as well.
        let refunded = members.contains { $0.cancelled != nil && !$0.wire.isUpgraded }
        if refunded { signals.insert(.pastPeriodRefunded) }
        return signals
    }

    private var usedIntroductory: Bool? {
        guard latest?.expires != nil else { return nil }
        return members.contains { $0.wire.isTrial || $0.wire.isIntroductory }
    }

    private func words(_ shown: Member, _ graceEnd: Timestamp?) -> String {
        var words = ["verifyReceipt"]
        if let intent = pending?.expirationIntent.flatMap({ Int($0.value) }) {
            words.append("expiration_intent \(intent)")
        }
        if let renews = pending?.autoRenewStatus?.isSet {
            words.append("auto_renew_status \(renews ? 1 : 0)")
        }
        if pending?.isInBillingRetry?.isSet == true { words.append("is_in_billing_retry_period") }
        if shown.wire.isUpgraded { words.append("is_upgraded") }
        for (name, date) in [
            ("expires_date", shown.expires), ("grace_period_expires_date", graceEnd),
            ("cancellation_date", shown.cancelled),
        ] {
            if let date { words.append("\(name) \(CalendarTime.text(date))") }
        }
        return words.joined(separator: ", ")
    }

    private static let renewalLag = Duration.hours(1)
}
