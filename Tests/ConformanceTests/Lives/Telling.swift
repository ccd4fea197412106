import Renewal
import TestSupport

/// What a store answers about a link when it tells the truth: a cell as the tables have it, which
/// the scenes make the bytes of.
struct Telling {
    let truth: Truth
    let link: Truth.Link

    init(_ truth: Truth, about number: Int) {
        self.truth = truth
        link = truth[number]
    }

    private var terms: Terms { truth.terms }
    private var now: Timestamp { truth.now }

    var cell: String {
        switch truth.realm {
        case .apple: apple
        case .receipts: receipt()
        case .googleV2: google
        case .googleV1: legacy
        case .amazon: amazon
        case .appleProducts: "4040010 / info " + appleProduct
        case .googleProducts: googleProduct
        case .googleProductsV1: googleProduct + " old"
        case .amazonProducts: amazonProduct
        }
    }

    /// Whole seconds, as cells have them.
    static func day(_ time: Timestamp) -> String {
        let (days, rest) = (time - TestCalendar.start).components.seconds
            .quotientAndRemainder(dividingBy: 86_400)
        return rest == 0 ? "\(days)" : "\(days)+\(rest)s"
    }

    /// As a hint names the order of a refund.
    static func order(
        _ period: Truth.Period, of link: Truth.Link, in realm: Realm
    ) -> String {
        realm.isGoogle
            ? GoogleScene.order(googleOrder(period.index, of: link))
            : "42000101010100" + transaction(period.index, of: link)
    }

    private func day(_ time: Timestamp) -> String { Self.day(time) }

    private static func transaction(_ index: Int, of link: Truth.Link) -> String {
        index == 0 ? "\(link.number)" : "9\(link.number)\(100 + index)"
    }

    private static func googleOrder(_ index: Int, of link: Truth.Link) -> String {
        index == 0 ? "\(link.number)" : "\(link.number)..\(index - 1)"
    }
}

// The App Store Server API.
extension Telling {
    private var apple: String {
        let own = truth.links.map { Telling(truth, about: $0.number).entry }
        let past = link.periods.dropLast().filter { $0.refundedAt != nil }
        let refunds = past.map {
            "5:\(day($0.end)) \(names($0)) revoked=\(day($0.refundedAt ?? now))"
        }
        let statuses = own.joined(separator: " + ")
        // Where there are none, what is not found does as well.
        return refunds.isEmpty
            ? statuses : statuses + " / refunds " + refunds.joined(separator: " + ")
    }

    /// The link's own entry of the statuses.
    var entry: String {
        let current = link.current
        var words = ["\(status):\(day(current.end))", names(current)]
        if current.phase == .trial { words.append("trial") }
        if link.isFamily { words.append("family") }
        if !link.renews { words.append("off") }
        if let next = link.next { words.append("next=\(next)") }
        if link.asksForPrice { words.append("price=0") }
        switch link.standing {
        case .grace(let until):
            words += ["grace=\(day(until))", "intent=2"] + (link.renews ? ["retry"] : [])
        case .hold: words += ["intent=2", "retry"]
        case .ended(let cause, _): words.append("intent=\(cause.intent)")
        case .refunded(let at), .removed(let at): words.append("revoked=\(day(at))")
        case .pending, .active, .silent, .paused, .replaced: break
        }
        return words.joined(separator: " ")
    }

    private var status: Int {
        switch link.standing {
        case .pending, .active, .silent, .paused, .replaced: 1
        case .ended: 2
        case .hold: 3
        case .grace: 4
        case .refunded, .removed: 5
        }
    }

    private func names(_ period: Truth.Period) -> String {
        "original=\(link.number) tx=\(Self.transaction(period.index, of: link))"
            + " line=7\(link.number)\(100 + period.index) product=\(period.product)"
            + " bought=\(day(link.periods[0].start)) began=\(day(period.start))"
    }
}

// verifyReceipt.
extension Telling {
    /// Without those of `hidden`, which are only in the receipt itself.
    private func receipt() -> String {
        var parts = ["verify 0"]
        for link in truth.links {
            parts += link.periods.map { row($0, of: link) }
        }
        let pending = truth.links.map { Telling(truth, about: $0.number).pending }
        return (parts + pending).joined(separator: " + ")
    }

    private var pending: String {
        var pending = ["pending", "original=\(link.number)", "product=\(link.product)"]
        if !link.renews { pending.append("off") }
        if let next = link.next { pending.append("next=\(next)") }
        if link.asksForPrice { pending.append("price=0") }
        switch link.standing {
        case .grace(let until):
            pending += ["grace=\(day(until))", "intent=2"] + (link.renews ? ["retry"] : [])
        case .hold: pending += ["intent=2", "retry"]
        case .ended(let cause, _): pending.append("intent=\(cause.intent)")
        case .pending, .active, .silent, .paused, .refunded, .removed, .replaced: break
        }
        return pending.joined(separator: " ")
    }

    private func row(_ period: Truth.Period, of link: Truth.Link) -> String {
        var words = [
            day(period.end), "original=\(link.number)",
            "tx=\(Self.transaction(period.index, of: link))",
            "line=7\(link.number)\(100 + period.index)", "product=\(period.product)",
            "bought=\(day(period.start))",
        ]
        if period.phase == .trial { words.append("trial") }
        if period.isUpgraded { words.append("upgraded") }
        if link.isFamily { words.append("family") }
        if let at = period.refundedAt { words.append("cancelled=\(day(at))") }
        if case .removed(let at) = link.standing, period == link.current {
            words.append("cancelled=\(day(at))")
        }
        return words.joined(separator: " ")
    }
}

// Google Play.
extension Telling {
    private var paidOrder: String { Self.googleOrder(link.current.index, of: link) }
    private var declinedOrder: String { Self.googleOrder(link.current.index + 1, of: link) }

    /// In grace the expiry is moved a day at a time.
    private func movedEnd(until: Timestamp) -> Timestamp {
        let days = max((now - link.end).components.seconds / 86_400, 0) + 1
        return min(link.end + .days(Int(days)), until)
    }

    /// What order management says of the orders that a hint has named.
    private var orders: [String] {
        link.periods.contains { $0.refundedAt != nil } ? ["orders=REFUNDED"] : []
    }

    private var google: String {
        var words: [String]
        let paid = "order=\(paidOrder)"
        switch link.standing {
        case .pending: return "PENDING product=\(link.product)"
        case .active:
            words =
                link.renews ? ["ACTIVE \(day(link.end))"] : ["CANCELED \(day(link.end)) by=user"]
        case .silent: words = ["ACTIVE \(day(link.end))"]
        case .grace(let until):
            let end = day(movedEnd(until: until))
            if !link.renews {
                words = ["CANCELED \(end) by=user"]
            } else if now < link.end + .days(1) {
                words = ["ACTIVE \(end)"]
            } else {
                words = ["IN_GRACE_PERIOD \(end) pending=\(declinedOrder)"]
            }
        case .hold: words = ["ON_HOLD \(day(link.end)) pending=\(declinedOrder)"]
        case .paused(let until): words = ["PAUSED \(day(link.end)) resumes=\(day(until))"]
        case .ended(let cause, let at):
            let end = day(min(link.end, at))
            let isFresh = cause == .paymentFailed && now < at + .days(1)
            words = ["\(isFresh ? "CANCELED" : "EXPIRED") \(end) by=\(cause.byWhom)"]
        case .refunded(let at): words = ["EXPIRED \(day(at)) by=developer"]
        case .replaced(let at): words = ["EXPIRED \(day(at)) by=replacement"]
        case .removed: words = ["EXPIRED \(day(link.end))"]
        }
        words += orders + [paid, "product=\(link.product)", "start=\(day(link.periods[0].start))"]
        if terms.namesLatest { words.append("latest=\(latestOrder)") }
        if link.current.phase == .trial {
            words.append("trial")
        } else if link.periods[0].phase == .trial {
            words.append("offer")
        }
        if link.asksForPrice { words.append("price=OUTSTANDING") }
        if let before = link.predecessor { words.append("after=\(Realm.letter(of: before))") }
        return words.joined(separator: " ")
    }

    /// Google's latest order is the last one, whatever became of it.
    private var latestOrder: String {
        switch link.standing {
        case .grace, .hold, .ended(.paymentFailed, _): declinedOrder
        case .pending, .active, .silent, .paused, .ended, .refunded, .replaced, .removed: paidOrder
        }
    }

    private var legacy: String {
        var words: [String]
        var order = paidOrder
        let paid = link.current.phase == .trial ? "pay=2" : "pay=1"
        switch link.standing {
        case .pending: words = ["v1 \(day(link.end)) renews pay=0"]
        case .active:
            words =
                link.renews
                ? ["v1 \(day(link.end)) renews \(paid)"] : ["v1 \(day(link.end)) cancel=0"]
        case .silent: words = ["v1 \(day(link.end)) renews \(paid)"]
        case .grace(let until):
            let end = day(movedEnd(until: until))
            words = [link.renews ? "v1 \(end) renews pay=0" : "v1 \(end) cancel=0"]
            if terms.namesLatest { order = declinedOrder }
        case .hold:
            words = ["v1 \(day(link.end)) renews pay=0"]
            order = declinedOrder
        case .paused(let until):
            words = ["v1 \(day(link.end)) renews \(paid) resumes=\(day(until))"]
        case .ended(let cause, let at):
            words = ["v1 \(day(min(link.end, at))) cancel=\(cause == .userCancelled ? 0 : 1)"]
            if cause == .paymentFailed { order = declinedOrder }
        case .refunded(let at): words = ["v1 \(day(at)) cancel=3"]
        case .replaced(let at): words = ["v1 \(day(at)) cancel=2"]
        case .removed: words = ["v1 \(day(link.end)) cancel=3"]
        }
        words += orders + ["order=\(order)", "start=\(day(link.periods[0].start))"]
        if let pause = link.pause { words.append("resumes=\(day(link.end + pause))") }
        if link.asksForPrice { words.append("price=0") }
        if let before = link.predecessor { words.append("after=\(Realm.letter(of: before))") }
        return words.joined(separator: " ")
    }
}

// Products that are sold once.
extension Telling {
    private var appleProduct: String {
        var words = [
            link.product, "original=\(link.number)", "tx=\(link.number)",
            "bought=\(day(link.current.start))",
        ]
        if case .refunded(let at) = link.standing { words.append("revoked=\(day(at))") }
        return words.joined(separator: " ")
    }

    private var googleProduct: String {
        let state =
            switch link.standing {
            case .pending: "PENDING"
            case .refunded: "CANCELLED"
            default: "PURCHASED"
            }
        let bought =
            link.standing == .pending ? "" : " bought=\(day(link.current.start))"
        return "product \(state) product=\(link.product) order=\(link.number)\(bought)"
    }

    private var amazonProduct: String {
        let type = link.isConsumable ? "CONSUMABLE" : "ENTITLED"
        var words = [
            type, "product=\(link.product)", "bought=\(day(link.current.start))",
            "receipt=Zk3v\(Realm.letter(of: link.number))=:3:11",
        ]
        if case .refunded(let at) = link.standing { words.append("cancelled=\(day(at))") }
        return words.joined(separator: " ")
    }
}

// Amazon.
extension Telling {
    private var amazon: String {
        var words: [String]
        switch link.standing {
        case .pending, .active, .silent, .hold, .paused:
            words =
                link.renews
                ? ["renews \(day(link.end))"]
                : [terms.offKeepsDate ? "off \(day(link.end))" : "off"]
        case .grace(let until):
            words = [
                link.renews ? "renews \(day(link.end))" : "off \(day(link.end))",
                "grace=\(day(until))",
            ]
        case .ended(let cause, let at):
            words = ["off", "cancelled=\(day(at))", "reason=\(cause == .userCancelled ? 1 : 2)"]
        case .refunded(let at), .removed(let at):
            words = ["off", "cancelled=\(day(at))", "reason=1"]
        case .replaced(let at): words = ["off", "cancelled=\(day(at))", "reason=4"]
        }
        let isYear = link.product == "plus_year"
        words += [
            "product=\(isYear ? "plus" : link.product)",
            "term=\(isYear ? "plus_year" : link.product + ".monthly")",
            "receipt=Zk3v\(Realm.letter(of: link.number))=:3:11",
            "bought=\(day(link.periods[0].start))",
        ]
        if let next = link.next { words.append("deferred=\(next)") }
        if link.current.phase == .trial, now < link.end { words.append("trial=\(day(link.end))") }
        return words.joined(separator: " ")
    }
}

extension EndCause {
    /// Apple's `expirationIntent`.
    fileprivate var intent: Int {
        switch self {
        case .userCancelled: 1
        case .paymentFailed: 2
        case .priceIncreaseDeclined: 3
        case .productUnavailable: 4
        case .periodEnded: 5
        }
    }

    /// Who Google says has cancelled.
    fileprivate var byWhom: String {
        switch self {
        case .userCancelled: "user"
        case .paymentFailed, .priceIncreaseDeclined: "system"
        case .periodEnded, .productUnavailable: "developer"
        }
    }
}
