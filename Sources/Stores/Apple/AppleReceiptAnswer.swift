import Renewal

/// Reads an authentic answer of verifyReceipt: which of the customer's transactions the purchase
/// is, and where it stands. The answer tells dates, not states: they are compared with the time
/// that it was made.
struct AppleReceiptReader: Sendable {
    let bundleID: AppID
    /// The environment whose host has answered.
    let environment: StoreEnvironment
    let facts: Facts
    let customer: AppleCustomer
    /// What the receipt says of itself.
    let local: AppleReceipt?
    /// Status 21006.
    let hasExpired: Bool
    /// It was answered without our secret, which was refused.
    let isSecretRefused: Bool
    /// When the last verdict was heard.
    let checkedAt: Timestamp?
    /// Whether what contradicts the known may be an older copy.
    let mayBeAhead: Bool
    /// By the `Date` of the answer.
    let time: AppleTime

    func answer(_ response: AppleReceiptResponse) async throws(StoreFailure) -> Answer {
        try checkApp(response)
        try environment.check(appleName: response.environment)
        let time = AppleTime(now: time.now, told: try requested(response) ?? time.told)
        let scene = AppleReceiptScene(
            response: response, hasExpired: hasExpired, facts: facts,
            time: time, window: DateWindow(now: time.now))
        let lists = AppleReceiptLists(response, facts, at: time.instant)
        guard let id = ownID(lists.pool, scene) else {
            guard !hasExpired || !lists.pool.isEmpty else { throw .malformed(field: "receipt") }
            return try await answerWithoutLatest(nil, lists, scene)
        }
        let all = try chain(of: id, in: lists.pool, isListed: false, scene)
        if var own = try chain(of: id, in: lists.latest, scene), own.isSubscription {
            // The receipt itself may hold a later period than the list shows yet.
            if let all, all.isAhead(of: own), !isFollowed(own, lists, scene) { own = all }
            return try await answer(own, lists, scene)
        }
        if let all, !all.isSubscription {
            guard !isOlder(all, isWhole: lists.haveTheLatest) else {
                throw .mismatch(what: "time, an earlier one")
            }
            var observation = try told(all, kind(of: all), scene)
            try requireReversal(in: observation, of: all)
            if lacksTheLatest(all, isWhole: lists.haveTheLatest) { observation.forgetOrder() }
            return .verdict(observation)
        }
        return try await answerWithoutLatest(all, lists, scene)
    }

    /// A subscription that the list of the latest transactions shows.
    private func answer(
        _ own: AppleReceiptChain, _ lists: AppleReceiptLists, _ scene: AppleReceiptScene
    ) async throws(StoreFailure) -> Answer {
        guard !isOlder(own, isWhole: lists.showTheLatest) else {
            throw .mismatch(what: "period, an older one")
        }
        var reading = try own.reading(in: environment, kind: .autoRenewable)
        try requireReversal(in: reading.observation, of: own)
        if !own.isRunning, let heir = try await standIn(for: own, own.group, lists, scene),
            heir.isRunning || !own.isInGrace
        {
            var observation = try heir.reading(in: environment, kind: .autoRenewable).observation
            try requireReversal(in: observation, of: heir)
            observation.originalID = facts.originalID ?? own.id
            if heir.isShared || own.isShared { observation.forgetPeriod() }
            observation.nextToken = nextToken(scene.response)
            let isEnd = !reading.isContested && reading.observation.hasEnded
            if isEnd, !own.isShared, case .refunded = reading.observation.status {
                observation.note(refundOf: own.shownID, since: facts)
            }
            return isEnd ? .verdict(observation) : observation.asSubstitute()
        }
        if !reading.isContested, reading.observation.hasEnded,
            let at = try lostCopy(besides: own, lists, scene)
        {
            reading.observation.observed = .own(.removedFromFamily(at: at))
        } else if !reading.isContested, reading.observation.hasEnded,
            let heir = try await followed(after: own, lists, scene)
        {
            reading = try heir.reading(in: environment, kind: .autoRenewable)
        }
        reading.observation.originalID = facts.originalID ?? own.id
        reading.observation.nextToken = nextToken(scene.response)
        if lacksTheLatest(own, isWhole: lists.showTheLatest) { reading.observation.forgetOrder() }
        return reading.answer
    }

    /// Whether what is known is in force by another subscription, which the list shows: what the
    /// receipt holds of the purchase's own is from before that.
    private func isFollowed(
        _ own: AppleReceiptChain, _ lists: AppleReceiptLists, _ scene: AppleReceiptScene
    ) -> Bool {
        lists.latest.contains {
            $0.transactionID == facts.orderID && $0.chainID != own.id
                && $0.isRunning(at: scene.time.instant)
        }
    }

    /// Whether the answer lacks the latest transaction that is known, and takes away what it gave,
    /// gives another product in its place, or tells anew of what was over before, by what had
    /// happened until then: a copy of Apple's data that lags behind, as long as it may be one.
    private func isOlder(_ own: AppleReceiptChain, isWhole: Bool) -> Bool {
        guard lacksTheLatest(own, isWhole: isWhole) else { return false }
        let (end, known) = (own.end ?? .never, facts.latestEnd ?? .never)
        let isShorter = end < known - .minutes(1)
        guard facts.access == .granted else { return own.isRunning && isTakenBack || isShorter }
        return !own.isRunning || isShorter || end - .minutes(1) > known
            || own.product != facts.product
    }

    private var isTakenBack: Bool { facts.state == .refunded || facts.state == .revoked }

    /// Whether the answer lacks the latest transaction that is known, and shows nothing newer.
    private func lacksTheLatest(_ own: AppleReceiptChain, isWhole: Bool) -> Bool {
        guard mayBeAhead, facts.orderID != nil, facts.wasGranted || isTakenBack, !isWhole,
            !isNext(own)
        else { return false }
        let since =
            facts.access == .granted
            ? facts.statedAt : [facts.expiresAt, facts.statedAt].compactMap(\.self).min()
        guard let since, let latest = own.changedAt else { return true }
        return latest <= since
    }

    /// Whether it was bought as the known period ended, or later: another plan is the next one.
    /// Apple renews in the day before the end; a tester's periods are shorter than that.
    private func isNext(_ own: AppleReceiptChain) -> Bool {
        guard let paid = facts.paidThrough, let bought = own.boughtAt else { return false }
        return bought >= paid - (environment == .sandbox ? .zero : .days(1))
    }

    /// What was given back, or whose sharing has ended, and reads as in force again within a day of
    /// that is from before it, as nothing else tells.
    ///
    /// - Throws: `.mismatch` then.
    private func requireReversal(
        in observation: Observation, of own: AppleReceiptChain
    ) throws(StoreFailure) {
        guard observation.givesAccess,
            facts.state == .refunded || facts.state == .revoked && own.isShared,
            own.isOfLoss(knownTo: facts), let checkedAt, time.now - checkedAt < .days(1)
        else { return }
        throw .mismatch(what: "time, before it was taken back")
    }

    /// A subscription that the answer shows as it was when the receipt was made, or not at all: a
    /// shared secret that has changed, or a receipt that is too old. It ends nothing.
    private func answerWithoutLatest(
        _ old: AppleReceiptChain?, _ lists: AppleReceiptLists, _ scene: AppleReceiptScene
    ) async throws(StoreFailure) -> Answer {
        if let status = statusOfUsedUp { return .verdict(usedUp(status, scene)) }
        if let other = try await standIn(for: old, old?.group ?? facts.group, lists, scene) {
            var observation = try other.reading(in: environment, kind: .autoRenewable).observation
            try requireReversal(in: observation, of: other)
            observation.originalID = facts.originalID ?? old?.id
            if other.isShared || old?.isShared == true { observation.forgetPeriod() }
            return observation.asSubstitute()
        }
        let created = try scene.window.date(
            milliseconds: scene.response.receipt?.createdAt.flatMap { Int64($0.value) },
            field: "receipt.receipt_creation_date_ms")
        if let old, old.isRunning {
            var observation = try told(old, .autoRenewable, scene)
            observation.statedAt = created ?? old.boughtAt ?? scene.time.told
            let isOlder = facts.statedAt.map { created ?? $0 < $0 } ?? false
            guard isSecretRefused, isOlder else { return observation.asSubstitute() }
        }
        if isSecretRefused { throw AppleVerifyReceipt.secretRefused }
        // It says that it is over, and shows no later period than is known.
        if hasExpired, facts.access == .granted, let old, !old.isRunning,
            old.end ?? .never >= (facts.latestEnd ?? .never) - .minutes(1)
        {
            return try told(old, .autoRenewable, scene).asContested()
        }
        let isOver = [.expired, .refunded, .revoked].contains(facts.state)
        guard lists.latest.isEmpty, facts.kind == .autoRenewable, facts.wasGranted, !isOver else {
            return .doubt(.notFound)
        }
        throw .malformed(field: "latest_receipt_info is missing")
    }

    /// Where a known consumable stands that the receipt shows no more.
    private var statusOfUsedUp: SubscriptionStatus? {
        guard facts.kind == .consumable else { return nil }
        return switch facts.state {
        case .active: .active
        case .refunded: .refunded(at: facts.expiresAt)
        default: nil
        }
    }

    /// A consumable that the app has finished leaves its receipt, and that is no news.
    private func usedUp(
        _ status: SubscriptionStatus, _ scene: AppleReceiptScene
    ) -> Observation {
        var observation = Observation(
            environment: environment, kind: .consumable, status: status,
            items: [Item(names: [facts.product], expiresAt: nil)], originalID: facts.originalID,
            orderID: facts.orderID, period: facts.period, willRenew: false, phase: .regular,
            statedAt: scene.time.told, words: "finished: no longer in the receipt")
        observation.nextToken = nextToken(scene.response)
        return observation
    }

    /// What gives access in the group of a subscription that does not: what is paid before what is
    /// in grace, then what lasts longest. What the app has sold to another of its users is no
    /// stand-in.
    private func standIn(
        for own: AppleReceiptChain?, _ group: GroupID?, _ lists: AppleReceiptLists,
        _ scene: AppleReceiptScene
    ) async throws(StoreFailure) -> AppleReceiptChain? {
        guard let group else { return nil }
        let others = Set(
            lists.latest.filter { $0.group == group && $0.chainID != own?.id }.compactMap(\.chainID)
        )
        var best: AppleReceiptChain?
        for other in others.sorted() {
            guard let chain = try chain(of: other, in: lists.latest, scene),
                chain.isRunning || chain.isInGrace,
                best.map({ chain.givesMore(than: $0) }) ?? true,
                try await !isAnothers(chain, beside: own)
            else { continue }
            best = chain
        }
        return best
    }

    private func isAnothers(
        _ other: AppleReceiptChain, beside own: AppleReceiptChain?
    ) async throws(StoreFailure) -> Bool {
        try await customer.isAnothers(
            other.id, named: other.accountToken, beside: own?.accountToken)
    }

    /// What a purchase was in force by after its own subscription had ended: how that ended is how
    /// the purchase has.
    private func followed(
        after own: AppleReceiptChain, _ lists: AppleReceiptLists, _ scene: AppleReceiptScene
    ) async throws(StoreFailure) -> AppleReceiptChain? {
        let followed = lists.latest.first {
            $0.transactionID == facts.orderID && $0.group == own.group && $0.chainID != own.id
        }
        guard facts.wasGranted, let id = followed?.chainID, own.group != nil,
            let heir = try chain(of: id, in: lists.latest, scene),
            try await !isAnothers(heir, beside: own)
        else { return nil }
        return heir
    }

    /// When the sharing ended of the family's copy by which the purchase was in force.
    private func lostCopy(
        besides own: AppleReceiptChain, _ lists: AppleReceiptLists, _ scene: AppleReceiptScene
    ) throws(StoreFailure) -> Timestamp? {
        guard facts.access == .granted, let order = facts.orderID, order != own.shownID else {
            return nil
        }
        let copy = lists.latest.first {
            $0.transactionID == order && $0.chainID != own.id && $0.isShared
        }
        // It may have been renewed since, unseen.
        if let id = copy?.chainID,
            let at = try chain(of: id, in: lists.latest, scene)?.sharingEndedAt
        {
            return at
        }
        return try scene.window.past(
            milliseconds: copy?.cancelled, field: "cancellation_date_ms")
    }

    private func chain(
        of id: OrderID, in list: [AppleReceiptTransaction], isListed: Bool = true,
        _ scene: AppleReceiptScene
    ) throws(StoreFailure) -> AppleReceiptChain? {
        let own = list.filter { $0.chainID == id }
        return own.isEmpty
            ? nil : try AppleReceiptChain(id, of: own, isListed: isListed, scene)
    }

    private func told(
        _ chain: AppleReceiptChain, _ kind: ProductKind, _ scene: AppleReceiptScene
    ) throws(StoreFailure) -> Observation {
        var observation = try chain.reading(in: environment, kind: kind).observation
        observation.originalID = facts.originalID ?? chain.id
        observation.nextToken = nextToken(scene.response)
        return observation
    }

    /// When the answer was made, as it says.
    ///
    /// - Throws: `.malformed` for a time to come: it would silence all that comes later.
    private func requested(_ response: AppleReceiptResponse) throws(StoreFailure) -> Timestamp? {
        let field = "receipt.request_date_ms"
        let requested = try DateWindow(now: time.now).date(
            milliseconds: response.receipt?.requestedAt.map { Int64($0.value) ?? 0 },
            field: field)
        if let requested, requested > time.latest {
            throw .malformed(field: "\(field) is in the future")
        }
        return requested
    }

    /// Apple compares the app with nothing: a receipt of any other is as authentic.
    private func checkApp(_ response: AppleReceiptResponse) throws(StoreFailure) {
        // The same transaction may name it in one list and not in another.
        let all = response.latest.all + response.latestExpired.all + response.held
        let names = [response.receipt?.bundleID] + all.map(\.bundleID)
        let apps = Set(names.compactMap { $0 })
        guard !apps.isEmpty else { throw .malformed(field: "receipt.bundle_id") }
        guard apps == [bundleID] else { throw .mismatch(what: "app") }
    }

    /// The original id of the purchase: the known one, else that of its product, never another
    /// product's. A receipt of iOS 6 holds one subscription, whatever it has changed to.
    private func ownID(
        _ pool: [AppleReceiptTransaction], _ scene: AppleReceiptScene
    ) -> OrderID? {
        if let id = facts.originalID {
            let named = pool.first { $0.originalID == id || $0.transactionID == id }
            return named?.chainID ?? (facts.group == nil ? nil : id)
        }
        let own = pool.filter { $0.productID == facts.product }
        let running = own.filter { $0.isRunning(at: scene.time.instant) }
        if let best = Self.newest(running.isEmpty ? own : running) { return best.chainID }
        let ids = Set(pool.compactMap(\.chainID))
        return scene.isOld && ids.count == 1 ? ids.first : nil
    }

    private static func newest(
        _ transactions: [AppleReceiptTransaction]
    ) -> AppleReceiptTransaction? {
        transactions.max {
            ($0.periodPurchased ?? 0, $0.expires ?? 0) < ($1.periodPurchased ?? 0, $1.expires ?? 0)
        }
    }

    /// The answer does not tell the kinds of one-time products apart.
    private func kind(of own: AppleReceiptChain) -> ProductKind {
        let told = local?.purchases.first { $0.transactionID == own.shownID }?.kind
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

extension AppleReceiptTransaction {
    fileprivate func isRunning(at instant: Timestamp) -> Bool {
        guard cancelled == nil, !isUpgraded else { return false }
        return expires.map { $0 > instant.microsecondsSinceEpoch / 1000 } ?? true
    }
}

extension Observation {
    /// What is known of the latest transaction stays.
    fileprivate mutating func forgetOrder() { (orderID, period) = (nil, nil) }

    fileprivate var hasEnded: Bool {
        switch status {
        case .active, .grace: false
        case .pending, .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced: true
        }
    }
}
