import Renewal

/// A life came to something that is not true.
struct Broken: Error, CustomStringConvertible {
    /// The rule, which stays the same while a life is made shorter.
    let rule: String
    let detail: String
    var description: String { "\(rule): \(detail)" }
}

/// Compares what was decided with the truth. A second, small reading of the design, which shares
/// nothing with the core but the words.
struct Oracle {
    let truth: Truth
    let number: Int
    let heard: Stage.Heard
    /// What has happened since the last true answer about this link, and to the ones before it.
    let marks: [Truth.Mark]
    /// As it was when a true answer about this link was heard last.
    let seen: Truth?
    /// Whether it was ambiguous before, in a period that goes on.
    let isDisputed: Bool
    let book: UserPurchases

    private var link: Truth.Link { truth.bearer(of: number) }
    /// Another link of the same subscription has come later.
    private var hasHeir: Bool { truth.realm.isApple && truth.links.count > number }
    private var facts: Facts { heard.outcome.facts }
    private var before: Facts { heard.before }
    private var told: [NoticeReason] { heard.outcome.notices.map(\.reason) }

    private func demand(
        _ holds: Bool, _ rule: String, _ detail: @autoclosure () -> String = ""
    ) throws {
        guard !holds else { return }
        throw Broken(rule: rule, detail: detail())
    }

    /// Whether the database's clock, which is behind, has not come to the last change yet: bad news
    /// may wait for it.
    var isTooFresh: Bool {
        let behind = .zero - truth.terms.ahead
        return behind > .zero && marks.contains { truth.now < $0.at + behind }
    }

    /// Google moves the end for an extension and in a silent grace alike: where no payment follows,
    /// nobody can see what it was.
    var isAmbiguous: Bool {
        let own = marks.filter { $0.link == number }.map(\.what)
        let isNewPeriod = seen.map { $0[number].periods.count < link.periods.count } ?? true
        let isPaid = link.standing == .active && link.renews && isNewPeriod
        return isDisputed
            || truth.realm.isGoogle && own.contains(.told(.extended)) && !isPaid
                && before.paidThrough.map { truth.now >= $0 } ?? false
    }

    /// Whatever was answered.
    func judgeAny() throws {
        let given = Set(
            book.purchases.values.map(\.purchase.facts).filter { $0.access != .none }
                .flatMap(\.holdings).map(\.entitlement))
        let active = Set(book.entitlements.values.filter(\.active).map(\.entitlement))
        try demand(given == active, "the union is what the purchases give", "\(given), \(active)")
        try demand(heard.outcome.schedule.nextCheckAt > heard.at, "the next check is later")
        guard !isAmbiguous else { return }
        try judgeReasons()
        try judgeOnce()
    }

    /// Each notice once, and only when it is true.
    private func judgeOnce() throws {
        var left = marks.filter { $0.link == number || hasHeir && $0.link > number }.map(\.what)
        let refunds = left.filter { $0 == .lost(.refunded) }.count
        // Of a period that was never seen, or not seen again before another one began, the notice
        // that it was taken back is all there is to tell.
        let isEnd = facts.state == .refunded && before.access == .granted
        left += Array(
            repeating: .told(.refundOfPastPeriod), count: max(refunds - (isEnd ? 1 : 0), 0))
        // It was paid and taken back between two looks, and the news of it comes after the second.
        if case .refunded = link.standing, before.state == .expired {
            left.append(.told(.refundOfPastPeriod))
        }
        // What was lost and came back between two looks goes on, as far as anybody can see.
        if hasGap || hasHeir {
            left += [
                .told(.renewed), .told(.paymentRecovered), .told(.trialConverted),
                .told(.autoRenewOn), .told(.autoRenewOff),
            ]
        }
        // What is taken back at a time that has not come, by our clock, is turned off till then.
        if isTooFresh { left.append(.told(.autoRenewOff)) }
        if isUnseenGrace { left += [.told(.extended), .told(.paymentPending)] }
        // Up and down again between two looks: another period of the same product.
        if wasUpgradedUnseen { left.append(.told(.renewed)) }
        // The store did not know it from the beginning.
        if facts.state == .invalid, !before.wasGranted { left.append(.told(.rejected)) }
        // Of trouble that came and went between two looks nothing is left but the payment.
        if left.contains(.told(.paymentPending)), left.contains(.told(.paymentRecovered)) {
            left.append(.told(.renewed))
        }
        // An end that moved by itself was taken for a silent grace.
        if before.state == .grace { left.append(.told(.paymentRecovered)) }
        // The first payment after a trial, however late.
        let isBack = left.contains(.gained(.recovered)) || left.contains(.gained(.resubscribed))
        let isOther = wasUpgradedUnseen || before.product != facts.product
        if before.phase == .trial, isBack || isOther {
            left.append(.told(.trialConverted))
        }
        if before.product != facts.product { left.append(.told(.renewed)) }
        for reason in told {
            guard let place = left.firstIndex(of: .told(reason)) else {
                try demand(
                    Self.isOurs(reason), "told is true: \(reason.rawValue)", "marks \(left)")
                continue
            }
            left.remove(at: place)
        }
    }

    /// Notices that are not about what happens at the store.
    private static func isOurs(_ reason: NoticeReason) -> Bool {
        switch reason {
        case .unacknowledged, .sharedReceipt, .environmentChanged, .tokenEnding, .migrated: true
        default: false
        }
    }

    /// Of a grace that was turned off before it was seen, Google shows a later end and no more.
    private var isUnseenGrace: Bool {
        truth.realm.isGoogle && link.plain == .grace && !link.renews
            && before.paidThrough != link.end
    }

    private var wasUpgradedUnseen: Bool {
        guard let seen, seen.links.count >= number else { return false }
        return link.periods.dropFirst(seen[number].periods.count).contains(where: \.isUpgraded)
    }

    private var hasGap: Bool {
        marks.contains { $0.link == number && $0.what.isLoss }
            && marks.contains { $0.link == number && $0.what.isGain }
    }

    private func judgeReasons() throws {
        var what = Set(marks.map(\.what))
        // Amazon has no word for a refund: a term that was never seen, or that was free, cannot be
        // cut short.
        if truth.realm == .amazon, before.paidThrough != link.end || before.phase == .trial {
            what.formUnion([.lost(.cancelled), .lost(.refunded)])
            // With auto-renew off it shows no end: the unseen one is believed for so long only.
            if !link.renews { what.insert(.lost(.unverifiable)) }
        }
        // Google's word for a refund is an end before its time; of a period that was never seen
        // nobody knows the time.
        if truth.realm.isGoogle, before.paidThrough != link.end {
            what.insert(.lost(.expired))
            // Taken for paid, as the grace was not seen to begin: its end comes before its time.
            if let paid = before.paidThrough, paid > link.end { what.insert(.lost(.refunded)) }
        }
        // What was given up and bought again between two looks was paid, as far as anybody can see.
        if before.state == .hold, what.contains(.gained(.resubscribed)) {
            what.insert(.gained(.recovered))
        }
        if before.state == .paused, what.contains(.gained(.recovered)) {
            what.insert(.gained(.resumed))
        }
        // What was paused or in hold when it was seen last, and comes back as another link.
        let wasHalted = book.purchases.values.contains {
            $0.purchase.facts.state == .superseded
                && [.paused, .paymentFailed].contains($0.purchase.facts.lossReason)
        }
        if what.contains(.gained(.productChanged)), wasHalted || what.contains(.lost(.paused)) {
            what.insert(.gained(.resubscribed))
        }
        // What was bought again unseen, and was paused or unpaid when it was seen first; version 1
        // says the same of a first payment that is awaited.
        if [.paused, .hold, .pending].contains(before.state), !before.wasGranted {
            what.formUnion([.gained(.resubscribed), .gained(.productChanged)])
        }
        // What a pause or a refund that was reversed has come to, unseen, is all that is shown. A
        // receipt shows all its subscriptions.
        for link in truth.realm == .receipts ? truth.links : [link] {
            if case .ended(let cause, _) = link.standing { what.insert(.lost(cause.loss)) }
            if case .hold = link.standing { what.insert(.lost(.paymentFailed)) }
        }
        // A new subscription of whose first periods nothing was seen but that they were refunded.
        if !before.wasGranted, what.contains(.gained(.refundReversed)) {
            what.insert(.gained(.resubscribed))
        }
        if isAskedAndUnpaid, what.contains(.lost(.paymentFailed)) {
            what.insert(.lost(.priceIncreaseDeclined))
        }
        for event in heard.settlement.events {
            switch event.kind {
            case .grant(let reason):
                let isBack = reason == .restored || reason == .resubscribed
                // What had ended before anybody handed it in has given nothing before.
                let isFirst = reason == .purchased && !before.wasGranted
                try demand(
                    what.contains(.gained(reason)) || isBack && before.wasGranted || isFirst,
                    "gained for its reason: \(reason.rawValue)", "marks \(marks.map(\.what))")
            case .revoke(let reason):
                try demand(
                    what.contains(.lost(reason)), "lost for its reason: \(reason.rawValue)",
                    "marks \(marks.map(\.what))")
            case .notice: break
            }
        }
    }

    /// Who was asked for a higher price may have declined it, or not have paid: where Google does not
    /// name the latest order, nothing tells.
    private var isAskedAndUnpaid: Bool {
        truth.realm == .googleV2 && !truth.terms.namesLatest && link.asksForPrice
    }

    /// The store did not tell the truth about this purchase.
    func judgeUntrue() throws {
        let isGranted = facts.access == .granted
        if before.access == .granted, link.grants {
            try demand(isGranted, "no revoke without a true verdict")
        }
        if before.access != .granted, isGranted {
            try demand(link.grants, "no grant without a true verdict")
        }
        if let known = before.paidThrough, isGranted {
            try demand(
                facts.paidThrough.map { $0 >= known } ?? false, "what was paid stays paid",
                "\(Telling.day(known)) became \(facts.paidThrough.map(Telling.day) ?? "-")")
        }
    }

    /// No verdict, no change.
    func judgeTrouble() throws {
        try judgeUntrue()
        guard before.wasGranted else { return }
        try demand(facts == before, "no verdict, no change")
        try demand(heard.settlement.events.isEmpty, "no event without a verdict")
        try demand(heard.outcome.schedule.problem != nil, "a problem is shown")
    }

    /// An answer that was true before the last one.
    func judgeBehind() throws {
        try judgeUntrue()
        try demand(
            heard.settlement.events.isEmpty, "an older answer is dropped",
            "\(heard.settlement.events.map(\.kind))")
    }

    /// News of a refund has come, and the answer does not show it.
    func judgeLate() throws {
        let wait = heard.outcome.schedule.nextCheckAt - heard.at
        try demand(wait <= .minutes(61), "a refund that was heard of is looked for", "\(wait)")
    }

    /// The truth was told.
    func judgeTrue() throws {
        if link.isReplaced { return try judgeReplaced() }
        // Version 1 says the same of a first payment that is awaited and of a grace that was never
        // seen to begin.
        let isFirst = before.state == .new || before.state == .pending
        if truth.realm == .googleV1, isFirst, link.plain == .grace { return }
        if isGivenUp { return try judgeRhythm() }
        try demand(
            (facts.access == .granted) == link.grants, "access is the truth's",
            "\(facts.access), \(link.standing)")
        let isUnseen =
            before.paidThrough != link.end && (truth.realm == .amazon || truth.realm.isGoogle)
            || truth.realm == .amazon && link.current.phase == .trial
        // Paid and then turned off, or turned off in grace: Amazon says the same of both.
        if truth.realm == .amazon, before.state == .grace, !link.renews { return }
        if hasHeir { return try judgeRhythm() }
        if isUnseenGrace { return try judgeRhythm() }
        try demand(
            facts.state == link.state || isUnseen && !link.grants, "state is the truth's",
            "\(facts.state), \(link.state)")
        try judgePaid()
        try judgeOwed()
        try judgeRhythm()
    }

    /// With auto-renew off Amazon shows no end: one that moved unseen is believed up to the limit of
    /// staleness and no longer.
    var isGivenUp: Bool {
        truth.realm == .amazon && !link.renews && facts.lossReason == .unverifiable
            && facts.access != .granted
    }

    private func judgeReplaced() throws {
        let wait = Duration.hours(1) + max(truth.terms.ahead, .zero - truth.terms.ahead)
        // What was submitted and not asked about yet may be the successor.
        let isAwaited = book.purchases.values.contains { $0.purchase.facts.state == .new }
        guard case .replaced(let at) = link.standing, truth.now > at + wait else { return }
        try demand(facts.access != .granted || isAwaited, "what is replaced gives nothing")
    }

    private func judgePaid() throws {
        guard !truth.realm.sellsOnce, before.paidThrough != nil || link.standing == .active,
            ![.refunded, .removed].contains(link.plain), facts.paidThrough != nil
        else { return }
        // Amazon does not show the end with auto-renew off.
        if truth.realm == .amazon, !link.renews { return }
        // Of a period that was paid unseen, before the trouble or the end that is seen, Google shows
        // no end: what is named may have moved unpaid.
        if truth.realm.isGoogle, link.isUnpaid || !link.grants, let known = before.paidThrough,
            known != link.end,
            facts.paidThrough == known
        {
            return
        }
        try demand(
            facts.paidThrough == link.end, "paid_through is the truth's",
            "\(facts.paidThrough.map(Telling.day) ?? "-"), \(Telling.day(link.end))")
    }

    /// What must have been told now.
    private func judgeOwed() throws {
        let own = marks.filter { $0.link == number }.map(\.what)
        let wasLost = own.contains { $0.isLoss || $0.isGain }
        guard before.access == .granted, link.grants, !wasLost else { return }
        func owe(_ reason: NoticeReason, when isDue: Bool) throws {
            // Taken back and scheduled again between two looks: it has been told.
            guard !before.signals.contains(where: { $0.notice == reason }) else { return }
            guard isDue, own.contains(.told(reason)) else { return }
            try demand(told.contains(reason), "told when due: \(reason.rawValue)", "\(told)")
        }
        let isActive = link.standing == .active
        // A change of the product that was not seen coming is told as that.
        let isSameProduct = before.product == facts.product
        // Amazon does not show the end of what is turned off: what was seen so alone may have been
        // renewed since, or not.
        let showsEnd = truth.realm != .amazon || link.renews && before.paidThrough != nil
        try owe(
            .renewed, when: isActive && before.state == .active && isSameProduct && showsEnd)
        try owe(.paymentPending, when: link.plain == .grace && before.state == .active)
        try owe(.paymentRecovered, when: isActive && before.state == .grace)
        try owe(
            .trialConverted,
            when: isActive && before.phase == .trial && isSameProduct && showsEnd)
        // Turned off while it ends, by one of the two clocks, it has been turned off for nothing.
        let ahead = max(truth.terms.ahead, .zero - truth.terms.ahead)
        let isEnding = ahead > .zero && truth.now + ahead + .minutes(1) >= link.end
        try owe(
            .autoRenewOff,
            when: before.autoRenew == true && !link.renews && isActive && !isEnding)
        try owe(.autoRenewOn, when: before.autoRenew == false && link.renews && isActive)
        let isSamePeriod = before.period == facts.period
        try owe(.extended, when: isActive && isSamePeriod)
        try owe(.priceIncreasePending, when: link.asksForPrice && isActive)
        try owe(.productChangeScheduled, when: link.next != nil && isActive)
        try owe(.pauseScheduled, when: truth.realm == .googleV1 && link.pause != nil && isActive)
        try owe(.refundOfPastPeriod, when: truth.realm == .receipts && isActive)
    }

    private func judgeRhythm() throws {
        let wait = heard.outcome.schedule.nextCheckAt - heard.at
        guard link.grants else {
            try demand(
                !link.isOpen || heard.outcome.schedule.nextCheckAt != .never, "open is asked again")
            return
        }
        try demand(wait <= .days(8), "in force is asked within a week", "\(wait)")
        // Amazon does not show the end of what was cancelled before it was seen.
        if link.standing == .active, link.end > truth.now, facts.paidThrough == link.end {
            // By the store's clock where ours is ahead, by ours where it is behind.
            let slack = max(truth.terms.ahead, .zero - truth.terms.ahead)
            try demand(
                truth.now + wait <= link.end + .minutes(1) + slack, "asked at its end", "\(wait)")
        }
    }
}

extension Truth.Link {
    enum Plain: Hashable { case grace, refunded, removed, other }

    var plain: Plain {
        switch standing {
        case .grace: .grace
        case .refunded: .refunded
        case .removed: .removed
        case .pending, .active, .silent, .hold, .paused, .ended, .replaced: .other
        }
    }
}

extension Truth.Mark.What {
    /// What may wait for a clock that is behind.
    var isBad: Bool {
        switch self {
        case .lost, .told(.autoRenewOff), .told(.refundOfPastPeriod), .told(.refunded),
            .told(.paymentPending):
            true
        case .gained, .told: false
        }
    }

    fileprivate var isLoss: Bool { if case .lost = self { true } else { false } }
    fileprivate var isGain: Bool { if case .gained = self { true } else { false } }
}
