import Renewal

/// What all chains of one answer of verifyReceipt have in common.
struct AppleReceiptScene: Sendable {
    let response: AppleReceiptResponse
    /// Status 21006.
    let hasExpired: Bool
    let facts: Facts
    /// When the answer was made.
    let time: AppleTime
    let window: DateWindow

    /// A receipt of iOS 6, which is a transaction itself: of such ones alone Apple says when they
    /// have expired.
    var isOld: Bool { response.receipt?.own != nil }
}

/// One subscription or one-time product of an answer, over all its transactions.
struct AppleReceiptChain: Sendable {
    let id: OrderID
    private let members: [Member]
    private let scene: AppleReceiptScene
    private let pending: AppleReceiptResponse.Pending?
    private let graceEnd: Timestamp?
    private let shown: Member

    /// A transaction, its dates checked.
    private struct Member: Sendable {
        let wire: AppleReceiptTransaction
        let boughtAt: Timestamp?
        /// When this very transaction was made, which may be a copy or a further seat.
        let madeAt: Timestamp?
        let firstBought: Timestamp?
        let expires: Timestamp?
        let cancelled: Timestamp?

        /// Paid, and neither taken back nor replaced.
        var counts: Bool { cancelled == nil && !wire.isUpgraded }

        /// Of what is sold once: a copy is of the same sale. What is shared anew is restored by no
        /// user: it has been given again.
        var soldAt: Timestamp? { wire.isShared ? madeAt : firstBought }

        var endsSharing: Bool { cancelled != nil && wire.isShared }

        func runs(at instant: Timestamp) -> Bool {
            counts && expires.map { $0 > instant } ?? true
        }

        var phase: Phase {
            if wire.isTrial { return .trial }
            return wire.isIntroductory ? .introductory : .regular
        }

        /// In the order in which they were bought: one that was refunded may end later than what
        /// was bought after it. Of one period what was refunded comes first. In whatever order they
        /// are listed, theirs is the same.
        static func isBefore(_ left: Member, _ right: Member) -> Bool {
            left.period != right.period
                ? left.period < right.period : left.ofPeriod < right.ofPeriod
        }

        /// As `isBefore`, but by the end first.
        static func endsBefore(_ left: Member, _ right: Member) -> Bool {
            let (leftEnd, rightEnd) = (left.expires ?? .never, right.expires ?? .never)
            return leftEnd != rightEnd ? leftEnd < rightEnd : isBefore(left, right)
        }

        /// Whether they are of one period: its ends may differ by less than a second.
        func ends(with other: Member) -> Bool {
            wire.expires.isAbout(other.wire.expires)
        }

        private var period: (Timestamp, Timestamp) {
            (boughtAt ?? Self.early, expires ?? Self.early)
        }

        private var ofPeriod: (Timestamp, Timestamp, OrderID) {
            (cancelled ?? .never, madeAt ?? Self.early, wire.transactionID ?? "")
        }

        static let early = Timestamp(microsecondsSinceEpoch: 0)
    }

    /// - Parameters:
    ///   - id: of the chain.
    ///   - transactions: all that there are of it.
    ///   - isListed: whether they are of one age, as the App Store lists them.
    ///   - scene: the answer.
    /// - Throws: `.malformed` for what is no date, or of nothing.
    init(
        _ id: OrderID, of transactions: [AppleReceiptTransaction], isListed: Bool,
        _ scene: AppleReceiptScene
    ) throws(StoreFailure) {
        self.id = id
        self.scene = scene
        var members: [Member] = []
        // One-time products have no end, and must not enter the comparison of ends.
        let renews = transactions.contains { $0.expires != nil }
        for wire in transactions where (wire.expires != nil) == renews {
            members.append(try Self.member(wire, scene.window))
        }
        let shown = Self.shown(of: members, isListed: isListed, at: scene.time.instant)
        guard let shown else {
            throw .malformed(field: "latest_receipt_info")
        }
        self.members = members
        self.shown = shown
        let entries = scene.response.pending.filter {
            $0.originalID.map { OrderID($0.value) == id } ?? true
        }
        let products = Set(members.compactMap(\.wire.productID))
        pending =
            entries.first { $0.productID == shown.wire.productID }
            ?? entries.first { $0.productID.map(products.contains) ?? true }
            ?? (scene.response.pending.isEmpty && scene.isOld ? scene.response.ownPending : nil)
        graceEnd = try scene.window.date(
            milliseconds: pending?.graceEnd.map { Int64($0.value) ?? 0 },
            field: "pending_renewal_info.grace_period_expires_date_ms")
    }

    /// The one that it stands by; nil of none.
    private static func shown(
        of members: [Member], isListed: Bool, at instant: Timestamp
    ) -> Member? {
        guard let newest = members.max(by: Member.isBefore) else { return nil }
        guard newest.expires != nil else { return sold(members) }
        // What ends the sharing ends the period before as well, where Apple has renewed early.
        if newest.endsSharing { return newest }
        return running(members, isListed: isListed, at: instant)
            ?? members.filter { !$0.wire.isUpgraded }.max(by: Member.isBefore) ?? newest
    }

    /// What is sold once is one sale, also where it was restored, and a refund is one of all its
    /// copies. What was bought after that is another sale.
    private static func sold(_ members: [Member]) -> Member? {
        let refunded = members.filter { $0.cancelled != nil }
        guard let last = refunded.compactMap(\.cancelled).max() else {
            return members.max(by: Member.isBefore)
        }
        return members.filter { $0.counts && $0.soldAt.map { $0 > last } ?? false }
            .max(by: Member.isBefore) ?? refunded.max(by: Member.isBefore)
    }

    /// What lasts longest. In a list that is older than the receipt what was upgraded does not say
    /// so yet, and ends later: there of the product that was bought last.
    private static func running(
        _ members: [Member], isListed: Bool, at instant: Timestamp
    ) -> Member? {
        let running = members.filter { $0.runs(at: instant) }
        let last = running.max(by: Member.isBefore)
        return running.filter { isListed || $0.wire.productID == last?.wire.productID }
            .max(by: Member.endsBefore)
    }

    private static func member(
        _ wire: AppleReceiptTransaction, _ window: DateWindow
    ) throws(StoreFailure) -> Member {
        let isFirst = wire.originalID == wire.transactionID
        return Member(
            wire: wire,
            boughtAt: try window.date(
                milliseconds: wire.periodPurchased, field: "purchase_date_ms"),
            madeAt: try window.date(milliseconds: wire.purchased, field: "purchase_date_ms"),
            firstBought: try window.date(
                milliseconds: isFirst ? wire.purchased : wire.originallyPurchased ?? wire.purchased,
                field: "purchase_date_ms"),
            expires: try window.date(milliseconds: wire.expires, field: "expires_date_ms"),
            cancelled: try window.past(
                milliseconds: wire.cancelled, field: "cancellation_date_ms"))
    }

    var isSubscription: Bool { shown.expires != nil }
    var isRunning: Bool { shown.runs(at: scene.time.instant) }
    /// Its payment has failed, and Apple lets access go on.
    var isInGrace: Bool {
        shown.counts && !isRunning && graceEnd.map { $0 > scene.time.instant } ?? false
    }

    /// Paid is more than in grace, and for longer is more.
    func givesMore(than other: AppleReceiptChain) -> Bool {
        guard isRunning == other.isRunning else { return isRunning }
        return (isRunning ? shown.expires : graceEnd) ?? .never
            > (isRunning ? other.shown.expires : other.graceEnd) ?? .never
    }

    /// Whether a period of it was bought later than all of the other. A receipt of iOS 6 may be a
    /// copy, of a period that the answer does not show: one that ends later is none.
    func isAhead(of other: AppleReceiptChain) -> Bool {
        guard let bought = other.members.compactMap(\.boughtAt).max() else { return false }
        let end = other.members.compactMap(\.expires).max()
        return members.contains { member in
            guard let at = member.boughtAt, at > bought else { return false }
            return !scene.isOld || member.expires ?? .never > end ?? .never
        }
    }

    /// Whether it stands by what was taken back, as is known, or by another transaction of that
    /// sale or period: an answer that shows what was taken back as such is from after that.
    func isOfLoss(knownTo facts: Facts) -> Bool {
        let known = members.first { $0.wire.transactionID == facts.orderID }
        guard isSubscription else {
            if let known, known.counts {
                return shown.soldAt ?? Member.early <= known.soldAt ?? .never
            }
            let lostAt = members.compactMap(\.cancelled).max()
            return lostAt.map { at in shown.soldAt.map { $0 <= at } ?? true } ?? true
        }
        if let known { return known.counts && known.ends(with: shown) }
        guard facts.state == .revoked else { return shown.wire.isFor(facts) }
        // By which of the family's copies it was shared is not known any more.
        let lostAt = [facts.expiresAt, facts.statedAt].compactMap(\.self).min()
        guard let lostAt, let made = shown.madeAt else { return true }
        return made <= lostAt
    }

    var isShared: Bool { shown.wire.isShared }
    /// When it was taken away from a member of the family, or who was given a seat.
    var sharingEndedAt: Timestamp? { shown.endsSharing ? shown.cancelled : nil }
    var group: GroupID? { shown.wire.group }
    var product: ProductID? { shown.wire.productID }
    var boughtAt: Timestamp? { shown.boughtAt }
    /// When it was bought, or taken back since.
    var changedAt: Timestamp? { shown.cancelled ?? shown.boughtAt }
    var end: Timestamp? { shown.expires }
    /// The transaction that it stands by.
    var shownID: OrderID? { shown.wire.transactionID }

    /// Apps name their users in what they sell; a family's copy has no such name.
    var accountToken: String? { shown.wire.accountToken }

    func reading(
        in environment: StoreEnvironment, kind: ProductKind
    ) throws(StoreFailure) -> AppleReading {
        guard let product = shown.wire.productID, !product.isEmpty else {
            throw .malformed(field: "product_id")
        }
        let (status, isContested) = try stands()
        let end = status == .grace(expiryMovedUnpaid: false) ? graceEnd : shown.expires
        let refunds = pastRefunds
        var observation = Observation(
            environment: environment, kind: kind, status: status,
            items: [Item(names: [product], expiresAt: end)], originalID: id,
            orderID: shown.wire.transactionID,
            period: period, paidThrough: shown.expires,
            expiresAt: end,
            willRenew: isSubscription ? pending?.autoRenewStatus?.isSet : false,
            phase: shown.phase,
            purchasedAt: isSubscription ? shown.boughtAt : shown.firstBought, signals: signals,
            group: shown.wire.group, usedIntroductory: usedIntroductory, statedAt: scene.time.told,
            words: words)
        if !refunds.isEmpty { observation.signals.insert(.pastPeriodRefunded) }
        observation.pastRefunds = refunds
        observation.noteSeats(since: scene.facts)
        observation.accountToken = shown.wire.accountToken.map(UserID.init)
        observation.ownership = Ownership(appleName: shown.wire.ownership)
        return AppleReading(observation: observation, isContested: isContested)
    }

    /// Where it stands, and whether its bad news needs a second opinion.
    ///
    /// - Throws: `.malformed` where it would have ended by our clock alone.
    private func stands() throws(StoreFailure) -> (status: SubscriptionStatus, isContested: Bool) {
        // An end that is still to come contradicts 21006; of what has none it says nothing.
        if isRunning {
            return scene.hasExpired && isSubscription
                ? (.ended(endCause, at: nil), true) : (.active, false)
        }
        if shown.wire.isUpgraded { return (.replaced(at: nil), false) }
        if let cancelled = shown.cancelled {
            return (
                isShared ? .removedFromFamily(at: cancelled) : .refunded(at: cancelled), false
            )
        }
        if let graceEnd, graceEnd > scene.time.instant {
            return (.grace(expiryMovedUnpaid: false), false)
        }
        guard scene.time.isProven || isSaidToBeOver else {
            throw .malformed(field: "receipt.request_date_ms, and no Date")
        }
        if isRetrying {
            // Of iOS 6 no end of grace is told; status 0 says that it has not expired.
            if scene.isOld, !scene.hasExpired { return (.grace(expiryMovedUnpaid: false), false) }
            return (.hold, scene.hasExpired)
        }
        if isTurnedOff || (!scene.hasExpired && pending?.expirationIntent != nil) {
            return (.ended(endCause, at: shown.expires), false)
        }
        // Just at a renewal the new period may not be shown yet: nothing says that it is over. In
        // trouble with payment that is no sign of a payment either.
        let isInTrouble = scene.facts.state == .grace || scene.facts.state == .hold
        if !scene.hasExpired, !isInTrouble, let expires = shown.expires,
            scene.time.instant < expires + Self.renewalLag
        {
            return (.active, false)
        }
        return (.ended(endCause, at: shown.expires), true)
    }

    private var isRetrying: Bool { pending?.isInBillingRetry?.isSet == true }

    /// The store's own word, besides dates. In grace it speaks of the failed payment as well.
    private var isSaidToBeOver: Bool {
        scene.hasExpired || graceEnd == nil && (isRetrying || pending?.expirationIntent != nil)
    }

    private var isTurnedOff: Bool { pending?.autoRenewStatus?.isSet == false }

    private var endCause: EndCause {
        switch pending?.expirationIntent?.value {
        case "1": .userCancelled
        case "2": .paymentFailed
        case "3": .priceIncreaseDeclined
        case "4": .productUnavailable
        case nil where isTurnedOff: .userCancelled
        default: .periodEnded
        }
    }

    private var signals: Set<Signal> {
        guard isRunning, isSubscription else { return [] }
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
        return signals
    }

    /// Refunds of earlier periods that nobody was told of. An upgrade takes the old period back as
    /// well; and the refund of what was the latest then has ended access, and was told with that.
    private var pastRefunds: Set<OrderID> {
        guard isSubscription else { return [] }
        let facts = scene.facts
        let past = members.filter { member in
            guard let at = member.cancelled, !member.wire.isUpgraded, !member.wire.isShared,
                !isSeatTakenBack(member), member.wire.transactionID != shown.wire.transactionID
            else { return false }
            if facts.signals.contains(.pastPeriodRefunded), facts.statedAt.map({ at <= $0 }) ?? true
            {
                return false
            }
            if member.wire.transactionID == facts.orderID {
                return facts.state != .refunded && facts.state != .revoked
            }
            // Nobody has asked since.
            if let told = facts.statedAt, at > told { return true }
            guard let began = member.boughtAt, let end = member.expires else { return true }
            let next = members.filter { $0.boughtAt.map { $0 > began } ?? false }
                .min(by: Member.isBefore)
            let wasLatest = next?.boughtAt.map { at <= $0 } ?? true
            return !(began <= at && at < end && wasLatest)
        }
        return Set(past.compactMap(\.wire.transactionID))
    }

    /// Whether it was taken back of the period that is shown, which other transactions pay as well.
    private func isSeatTakenBack(_ member: Member) -> Bool {
        member.cancelled != nil && !member.wire.isUpgraded && !member.wire.isShared
            && member.expires != nil && member.ends(with: shown)
    }

    private var period: OrderID? {
        (shown.wire.lineItem ?? shown.wire.transactionID)?
            .refunding(seats: isRunning ? members.count(where: isSeatTakenBack) : 0)
    }

    private var usedIntroductory: Bool? {
        guard isSubscription else { return nil }
        return members.contains { $0.wire.isTrial || $0.wire.isIntroductory }
    }

    private var words: String {
        var words = [scene.hasExpired ? "verifyReceipt 21006" : "verifyReceipt"]
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
            if let date { words.append("\(name) \(date.text)") }
        }
        return words.joined(separator: ", ")
    }

    private static let renewalLag = Duration.hours(1)
}
