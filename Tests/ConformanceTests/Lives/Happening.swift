import Renewal

/// What may happen to a customer's subscription, beside what happens by itself.
enum Happening: Hashable, Sendable {
    case buy(Phase, pending: Bool, family: Bool)
    case pay
    case cardFails, cardMended
    case cancel, uncancel
    case refund, refundPast, refundReversed
    case upgrade(to: String)
    case change(to: String)
    case resubscribe
    /// The same again, under another original id.
    case buyAnew
    case familyRemoved, familyReturned
    case pause(days: Int)
    case resume
    case askPrice, acceptPrice
    case withdrawn
    case extend(days: Int)
}

extension Truth {
    /// Lets it happen. False when it cannot happen now: nothing has changed then.
    mutating func happen(_ what: Happening) -> Bool {
        if case .buy(let phase, let pending, let family) = what {
            return buy(phase, pending: pending, family: family)
        }
        guard let number = links.last?.number else { return false }
        if realm.sellsOnce {
            switch what {
            case .pay, .refund, .refundReversed: break
            default: return false
            }
        }
        switch what {
        case .buy: return false
        case .pay: return pay(number)
        case .cardFails:
            guard cardIsGood else { return false }
            cardIsGood = false
        case .cardMended: return mendCard()
        case .cancel: return cancel(number)
        case .uncancel: return uncancel(number)
        case .refund: return refund(number)
        case .refundPast: return refundPast(number)
        case .refundReversed: return reverse(number)
        case .upgrade(let product): return upgrade(number, to: product)
        case .change(let product): return change(number, to: product)
        case .resubscribe: return resubscribe(number)
        case .buyAnew: return buyAnew(number)
        case .familyRemoved: return removeFromFamily(number)
        case .familyReturned: return returnToFamily(number)
        case .pause(let days): return pause(number, days: days)
        case .resume: return resume(number)
        case .askPrice, .acceptPrice, .withdrawn, .extend: return change(number, by: what)
        }
        return true
    }

    private mutating func buy(_ phase: Phase, pending: Bool, family: Bool) -> Bool {
        guard links.isEmpty else { return false }
        let isPending = pending && realm.isGoogle && realm != .googleV1
        add(terms.product, phase: realm.sellsOnce ? .regular : phase, from: nil)
        self[1].isFamily = family && realm.isApple && !realm.sellsOnce
        self[1].renews = !realm.sellsOnce
        if realm.sellsOnce { self[1].endsBecause = .periodEnded }
        if isPending {
            self[1].standing = .pending
        } else {
            mark(1, .gained(.purchased))
        }
        return true
    }

    private mutating func add(_ product: String, phase: Phase, from predecessor: Int?) {
        let length: Duration = phase == .trial ? .days(7) : Wares.length(of: product)
        let period = Period(
            index: 0, start: now, end: now + length, product: product, phase: phase)
        links.append(
            Link(
                number: links.count + 1, product: product, periods: [period],
                predecessor: predecessor))
    }

    private mutating func pay(_ number: Int) -> Bool {
        guard self[number].standing == .pending else { return false }
        self[number].periods = [
            Period(
                index: 0, start: now, end: now + Wares.length(of: self[number].product),
                product: self[number].product, phase: .regular)
        ]
        self[number].standing = .active
        mark(number, .gained(.purchased))
        return true
    }

    private mutating func mendCard() -> Bool {
        guard !cardIsGood else { return false }
        cardIsGood = true
        for link in links where link.renews {
            switch link.standing {
            case .silent:
                convert(link.number)
                renew(link.number, from: link.end)
                mark(link.number, .told(.renewed))
            case .grace:
                convert(link.number)
                renew(link.number, from: link.end)
                mark(link.number, .told(.paymentRecovered))
            case .hold:
                renew(link.number, from: now)
                mark(link.number, .gained(.recovered))
            case .pending, .active, .paused, .ended, .refunded, .removed, .replaced: break
            }
        }
        return true
    }

    private mutating func cancel(_ number: Int) -> Bool {
        guard self[number].renews else { return false }
        switch self[number].standing {
        case .active: break
        case .grace where !(realm.isApple && terms.cancelEndsGrace): break
        case .grace:
            end(number, .userCancelled)
            return true
        case .hold:
            self[number].renews = false
            self[number].standing = .ended(.userCancelled, at: now)
            return true
        case .pending, .silent, .paused, .ended, .refunded, .removed, .replaced: return false
        }
        self[number].renews = false
        self[number].endsBecause = .userCancelled
        self[number].pause = nil
        self[number].next = nil
        self[number].asksForPrice = false
        mark(number, .told(.autoRenewOff))
        return true
    }

    private mutating func uncancel(_ number: Int) -> Bool {
        guard !self[number].renews, self[number].standing == .active,
            self[number].endsBecause == .userCancelled
        else { return false }
        self[number].renews = true
        mark(number, .told(.autoRenewOn))
        return true
    }

    private mutating func refund(_ number: Int) -> Bool {
        let link = self[number]
        guard link.standing == .active, !link.isFamily,
            now > link.current.start + .minutes(5), now < link.end - .days(2)
        else { return false }
        let last = link.periods.count - 1
        self[number].periods[last].refundedAt = now
        self[number].standing = .refunded(at: now)
        self[number].renews = false
        self[number].asksForPrice = false
        self[number].next = nil
        let order = Telling.order(link.current, of: link, in: realm)
        mark(number, link.isConsumable ? .told(.refunded) : .lost(.refunded), order: order)
        return true
    }

    private mutating func refundPast(_ number: Int) -> Bool {
        let link = self[number]
        guard realm != .amazon, link.standing == .active, !link.isFamily,
            now > link.current.start,
            let last = link.periods.dropLast().last(where: {
                $0.refundedAt == nil && !$0.isUpgraded
            })
        else { return false }
        self[number].periods[last.index].refundedAt = now
        mark(number, .told(.refundOfPastPeriod), order: Telling.order(last, of: link, in: realm))
        if realm.isApple, link.renews {
            self[number].renews = false
            self[number].endsBecause = .periodEnded
            self[number].next = nil
            self[number].asksForPrice = false
            mark(number, .told(.autoRenewOff))
        }
        return true
    }

    private mutating func reverse(_ number: Int) -> Bool {
        guard realm.isApple, case .refunded = self[number].standing else { return false }
        let last = self[number].periods.count - 1
        self[number].periods[last].refundedAt = nil
        if now < self[number].end {
            self[number].standing = .active
            self[number].endsBecause = .periodEnded
            if !self[number].isConsumable { mark(number, .gained(.refundReversed)) }
        } else {
            self[number].standing = .ended(.periodEnded, at: self[number].end)
        }
        return true
    }

    private mutating func upgrade(_ number: Int, to product: String) -> Bool {
        let link = self[number]
        guard link.standing == .active, now > link.current.start + .hours(1), links.count < 6,
            !link.isFamily, product != link.product || (realm.isGoogle && !link.renews)
        else { return false }
        guard realm.isApple else {
            self[number].standing = .replaced(at: now)
            self[number].renews = false
            mark(number, .lost(.productChanged))
            add(product, phase: .regular, from: number)
            mark(number + 1, .gained(.productChanged))
            mark(number + 1, .gained(.purchased))
            return true
        }
        let last = link.periods.count - 1
        self[number].periods[last].isUpgraded = true
        self[number].asksForPrice = false
        self[number].next = product
        renew(number, from: now)
        if !link.renews {
            self[number].renews = true
            mark(number, .told(.autoRenewOn))
        }
        return true
    }

    private mutating func change(_ number: Int, to product: String) -> Bool {
        let link = self[number]
        guard !realm.isGoogle, link.standing == .active, link.renews, link.next == nil,
            !link.isFamily, product != link.product
        else { return false }
        self[number].next = product
        mark(number, .told(.productChangeScheduled))
        return true
    }

    private mutating func resubscribe(_ number: Int) -> Bool {
        let link = self[number]
        switch link.standing {
        case .ended, .refunded: break
        case .hold where realm.isGoogle: break
        case .pending, .active, .silent, .grace, .hold, .paused, .removed, .replaced: return false
        }
        guard !link.isFamily, links.count < 6 else { return false }
        cardIsGood = true
        if realm.isApple {
            self[number].asksForPrice = false
            self[number].next = nil
            renew(number, from: now)
            self[number].renews = true
            mark(number, .gained(.resubscribed))
        } else {
            if case .hold = link.standing {
                self[number].standing = .ended(.paymentFailed, at: now)
                self[number].renews = false
                self[number].endsBecause = .paymentFailed
            }
            add(link.product, phase: .regular, from: nil)
            mark(number + 1, .gained(.resubscribed))
            mark(number + 1, .gained(.purchased))
        }
        return true
    }

    private mutating func buyAnew(_ number: Int) -> Bool {
        let link = self[number]
        guard realm.isApple, !link.isFamily, links.count < 4, !link.isOpen, !link.isReplaced else {
            return false
        }
        cardIsGood = true
        add(link.product, phase: .regular, from: nil)
        mark(number + 1, .gained(.resubscribed))
        mark(number + 1, .gained(.purchased))
        return true
    }

    private mutating func removeFromFamily(_ number: Int) -> Bool {
        guard self[number].isFamily, self[number].standing == .active else { return false }
        self[number].standing = .removed(at: now)
        mark(number, .lost(.familyRemoved))
        return true
    }

    private mutating func returnToFamily(_ number: Int) -> Bool {
        guard case .removed = self[number].standing, self[number].renews else { return false }
        if now < self[number].end {
            self[number].standing = .active
        } else {
            renew(number, from: now)
        }
        mark(number, .gained(.resubscribed))
        return true
    }

    private mutating func pause(_ number: Int, days: Int) -> Bool {
        let link = self[number]
        guard realm.isGoogle, link.standing == .active, link.renews, link.pause == nil,
            now < link.end - .hours(2)
        else { return false }
        self[number].pause = .days(days)
        mark(number, .told(.pauseScheduled))
        return true
    }

    private mutating func resume(_ number: Int) -> Bool {
        guard case .paused = self[number].standing, cardIsGood else { return false }
        renew(number, from: now)
        mark(number, .gained(.resumed))
        return true
    }

    private mutating func change(_ number: Int, by what: Happening) -> Bool {
        let link = self[number]
        guard link.standing == .active else { return false }
        switch what {
        case .askPrice:
            guard realm != .amazon, link.renews, !link.asksForPrice, !link.isFamily,
                now < link.end - .hours(2)
            else { return false }
            self[number].asksForPrice = true
            mark(number, .told(.priceIncreasePending))
        case .acceptPrice:
            guard link.asksForPrice else { return false }
            self[number].asksForPrice = false
        case .withdrawn:
            guard realm.isApple, link.renews, !link.isFamily else { return false }
            self[number].renews = false
            self[number].endsBecause = .productUnavailable
            self[number].next = nil
            self[number].asksForPrice = false
            mark(number, .told(.autoRenewOff))
        case .extend(let days):
            guard realm != .amazon, now > link.current.start, now < link.end - .hours(2) else {
                return false
            }
            let last = link.periods.count - 1
            self[number].periods[last].end = link.end + .days(days)
            mark(number, .told(.extended))
        default: return false
        }
        return true
    }
}
