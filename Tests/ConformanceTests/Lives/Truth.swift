import Renewal

/// What is true of a customer's subscriptions, whoever asks and whatever is answered. Written from
/// the vendors' pages; knows nothing of adapters, observations and decisions.
struct Truth: Sendable {
    let realm: Realm
    let terms: Terms
    private(set) var now: Timestamp
    var links: [Link] = []
    /// Whether the next charge will succeed.
    var cardIsGood = true
    /// What has happened and was not taken yet.
    private(set) var marks: [Mark] = []

    init(realm: Realm, terms: Terms, now: Timestamp) {
        self.realm = realm
        self.terms = terms
        self.now = now
    }

    /// One subscription as its store keeps it: Apple's original id, a token of Google's, a receipt
    /// of Amazon's.
    struct Link: Hashable, Sendable {
        let number: Int
        var product: String
        var periods: [Period]
        var standing = Standing.active
        var renews = true
        /// Why it ends, where it does not renew.
        var endsBecause = EndCause.userCancelled
        /// The product from the next renewal on.
        var next: String?
        /// A higher price that nobody has agreed to yet.
        var asksForPrice = false
        /// To begin with the end of the period.
        var pause: Duration?
        var isFamily = false
        /// The link that this one continues.
        var predecessor: Int?

        var current: Period { periods[periods.count - 1] }
        var end: Timestamp { current.end }
    }

    struct Period: Hashable, Sendable {
        let index: Int
        let start: Timestamp
        var end: Timestamp
        let product: String
        let phase: Phase
        var refundedAt: Timestamp?
        var isUpgraded = false
    }

    enum Standing: Hashable, Sendable {
        /// The first payment is awaited.
        case pending
        case active
        /// Google's first day after a declined renewal, of which nothing is shown.
        case silent(until: Timestamp)
        case grace(until: Timestamp)
        case hold(until: Timestamp)
        case paused(until: Timestamp)
        case ended(EndCause, at: Timestamp)
        case refunded(at: Timestamp)
        case removed(at: Timestamp)
        case replaced(at: Timestamp)
    }

    /// Something that may be told of, once.
    struct Mark: Hashable, Sendable {
        let link: Int
        let at: Timestamp
        let what: What
        /// The order of a refund.
        var order: String?

        enum What: Hashable, Sendable {
            case gained(GrantReason)
            case lost(RevokeReason)
            case told(NoticeReason)
        }
    }

    subscript(link: Int) -> Link {
        get { links[link - 1] }
        set { links[link - 1] = newValue }
    }

    /// What gives access to whoever has bought a link. A customer holds one subscription of a group
    /// of Apple's at a time, whatever its original id.
    func bearer(of number: Int) -> Link {
        guard realm.isApple, !self[number].grants else { return self[number] }
        return links.dropFirst(number).last(where: \.grants) ?? self[number]
    }

    mutating func mark(_ link: Int, _ what: Mark.What, order: String? = nil) {
        marks.append(Mark(link: link, at: now, what: what, order: order))
    }

    mutating func takeMarks() -> [Mark] {
        defer { marks = [] }
        return marks
    }

    /// Lets time pass up to the next thing that happens by itself.
    ///
    /// - Returns: its name; nil when nothing happens until `target`.
    mutating func step(to target: Timestamp) -> String? {
        var first: (link: Int, at: Timestamp)?
        for link in links {
            guard let at = deadline(of: link), at <= target, at < first?.at ?? .never else {
                continue
            }
            first = (link.number, at)
        }
        guard let first else {
            now = max(now, target)
            return nil
        }
        now = max(now, first.at)
        return pass(first.link)
    }

    /// Lets so much time pass.
    mutating func pass(_ duration: Duration) {
        let target = now + duration
        while step(to: target) != nil {}
    }

    private func deadline(of link: Link) -> Timestamp? {
        switch link.standing {
        case .active:
            guard link.renews, link.pause == nil, !link.asksForPrice else { return link.end }
            guard cardIsGood else { return link.end }
            return realm.isApple
                ? max(link.end - terms.early, link.current.start + .hours(1))
                : link.end + terms.late
        case .silent(let until), .grace(let until), .hold(let until), .paused(let until):
            return until
        case .pending, .ended, .refunded, .removed, .replaced: return nil
        }
    }

    /// What happens by itself at a link's deadline.
    private mutating func pass(_ number: Int) -> String {
        switch self[number].standing {
        case .active: return endOfPeriod(number)
        case .silent:
            if terms.grace > .days(1) {
                self[number].standing = .grace(until: self[number].end + terms.grace)
                mark(number, .told(.paymentPending))
                return "grace"
            }
            suspend(number)
            return "hold"
        case .grace:
            guard self[number].renews else {
                end(number, .userCancelled)
                return "ends in grace"
            }
            guard realm != .amazon else {
                end(number, .paymentFailed)
                return "ends unpaid"
            }
            suspend(number)
            return "hold"
        case .hold:
            self[number].standing = .ended(.paymentFailed, at: now)
            self[number].renews = false
            self[number].endsBecause = .paymentFailed
            return "given up"
        case .paused:
            guard cardIsGood else {
                self[number].standing = .hold(until: now + .days(60))
                return "resume declined"
            }
            renew(number, from: now)
            mark(number, .gained(.resumed))
            return "resumes"
        case .pending, .ended, .refunded, .removed, .replaced: return "nothing"
        }
    }

    private mutating func endOfPeriod(_ number: Int) -> String {
        let link = self[number]
        if !link.renews {
            end(number, link.endsBecause)
            return "runs out"
        }
        if let pause = link.pause {
            self[number].pause = nil
            self[number].standing = .paused(until: link.end + pause)
            mark(number, .lost(.paused))
            return "pauses"
        }
        if link.asksForPrice {
            self[number].renews = false
            self[number].endsBecause = .priceIncreaseDeclined
            end(number, .priceIncreaseDeclined)
            return "price declined"
        }
        if cardIsGood {
            convert(number)
            renew(number, from: link.end)
            mark(number, .told(.renewed))
            return link.next == nil ? "renews" : "renews as another"
        }
        if realm.isGoogle, !terms.silentMoves {
            self[number].standing = .silent(until: link.end + .days(1))
            return "declined in silence"
        }
        let grace = realm.isGoogle ? max(terms.grace, .days(1)) : terms.grace
        if grace > .zero {
            self[number].standing = .grace(until: link.end + grace)
            mark(number, .told(.paymentPending))
            return "grace"
        }
        guard realm != .amazon else {
            end(number, .paymentFailed)
            return "ends unpaid"
        }
        suspend(number)
        return "hold"
    }

    private mutating func suspend(_ number: Int) {
        self[number].standing = .hold(until: now + terms.hold)
        mark(number, .lost(.paymentFailed))
    }

    mutating func end(_ number: Int, _ cause: EndCause) {
        self[number].standing = .ended(cause, at: now)
        self[number].renews = false
        self[number].endsBecause = cause
        mark(number, .lost(cause.loss))
    }

    /// A trial that is paid for.
    mutating func convert(_ number: Int) {
        if self[number].current.phase == .trial { mark(number, .told(.trialConverted)) }
    }

    /// Begins another paid period.
    mutating func renew(_ number: Int, from start: Timestamp) {
        let before = self[number].product
        let product = self[number].next ?? before
        self[number].next = nil
        self[number].product = product
        self[number].standing = .active
        self[number].periods.append(
            Period(
                index: self[number].periods.count, start: start,
                end: start + Wares.length(of: product), product: product, phase: .regular))
        noteProduct(number, from: before)
    }

    mutating func noteProduct(_ number: Int, from before: String) {
        guard Wares.entitlement(of: before) != Wares.entitlement(of: self[number].product) else {
            return
        }
        mark(number, .lost(.productChanged))
        mark(number, .gained(.productChanged))
    }
}

extension EndCause {
    var loss: RevokeReason {
        switch self {
        case .periodEnded: .expired
        case .userCancelled: .cancelled
        case .paymentFailed: .paymentFailed
        case .priceIncreaseDeclined: .priceIncreaseDeclined
        case .productUnavailable: .productUnavailable
        }
    }
}

// What the contract says of it (design section 3.1).
extension Truth.Link {
    var isConsumable: Bool { product == "coins" }

    var grants: Bool {
        switch standing {
        case .active, .silent, .grace: !isConsumable
        case .pending, .hold, .paused, .ended, .refunded, .removed, .replaced: false
        }
    }

    var state: PurchaseState {
        switch standing {
        case .pending: .pending
        case .active, .silent: .active
        case .grace: .grace
        case .hold: .hold
        case .paused: .paused
        case .ended: .expired
        case .refunded: .refunded
        case .removed: .revoked
        case .replaced: .superseded
        }
    }

    var isReplaced: Bool {
        if case .replaced = standing { true } else { false }
    }

    /// Whether a payment of it has failed and may come yet.
    var isUnpaid: Bool {
        switch standing {
        case .grace, .hold: true
        case .pending, .active, .silent, .paused, .ended, .refunded, .removed, .replaced: false
        }
    }

    /// Whether the store still may give access by itself.
    var isOpen: Bool {
        switch standing {
        case .pending, .active, .silent, .grace, .hold, .paused: true
        case .ended, .refunded, .removed, .replaced: false
        }
    }
}
