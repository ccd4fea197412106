/// One way in which a store fails, and for whom.
struct Fault: Hashable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// An error of the store's own shape with this status.
        case status
        /// A web page with status 200 (or another one).
        case html
        /// Status 200 and no body.
        case empty
        /// Half the body, then the stream is cut off.
        case cut
        /// Half the body, well delivered.
        case truncated
        /// A body that is not JSON.
        case garbled
        /// No answer.
        case hang
        /// The connection closed.
        case reset
        /// The right answer, late. Adds to whatever else meets the call.
        case slow
        /// Apple: signed by a foreign key; signed by an expired certificate.
        case wrongSignature = "wrong_signature"
        case expiredCertificate = "expired_certificate"
        /// The answer of another purchase of the same store.
        case otherPurchase = "other_purchase"
        /// The answer of some time ago.
        case stale
        /// The answer as if what is in force had ended this moment.
        case ended
        /// Apple's 4040010, Google's 404, Amazon's 400.
        case notFound = "not_found"
        /// 410, always or once.
        case gone
        case goneOnce = "gone_once"
        /// Too many calls in a short time; and the quota of the day or the hour used up.
        case throttle
        case quotaExhausted = "quota_exhausted"
        case unauthorized
        /// Apple's `verifyReceipt` with this status, such as 21002, 21005 or 21009.
        case receiptStatus = "receipt_status"
        /// Google's token endpoint fails.
        case tokenDown = "token_down"
    }

    var id = 0
    var kind: Kind
    var store: StoreName?
    var app: String?
    var purchase: Int?
    /// Nil for all but Google's token endpoint.
    var endpoint: Endpoint?
    var status: Int?
    /// The share of calls that are met, from 0 to 1.
    var share = 1.0
    var latency: Latency?
    /// How many more calls are met; nil for no limit.
    var remaining: Int?
    var retryAfterSeconds: Int64?
    /// What the `Retry-After` header says, whatever the store would say.
    var retryAfterText: String?
    /// When it begins and is over by the simulated clock; nil for always and never.
    var begins: Instant?
    var ends: Instant?
    /// How old a stale answer is.
    var age = Period.days(1)
    /// How many calls were met.
    var met = 0

    init(kind: Kind) {
        self.kind = kind
        switch kind {
        case .goneOnce: remaining = 1
        case .tokenDown: endpoint = .token
        case .receiptStatus: endpoint = .verifyReceipt
        default: break
        }
    }

    /// The only store that can fail so; nil for all.
    var onlyStore: StoreName? {
        switch kind {
        case .wrongSignature, .expiredCertificate, .receiptStatus: .apple
        case .tokenDown: .google
        case .status, .html, .empty, .cut, .truncated, .garbled, .hang, .reset, .slow,
            .otherPurchase, .stale, .ended, .notFound, .gone, .goneOnce, .throttle,
            .quotaExhausted, .unauthorized:
            nil
        }
    }

    func meets(_ call: FaultTarget, at now: Instant) -> Bool {
        if let begins, now < begins { return false }
        if let ends, now >= ends { return false }
        if let store = store ?? onlyStore, store != call.store { return false }
        if let app, app != call.app { return false }
        if let purchase, purchase != call.purchase { return false }
        let isHere = endpoint.map { $0 == call.endpoint } ?? (call.endpoint != .token)
        return isHere && remaining != 0
    }
}

/// What a fault looks at to tell whether a call is for it.
struct FaultTarget: Hashable, Sendable {
    var store: StoreName
    var endpoint: Endpoint
    var app: String?
    var purchase: Int?
}

/// What meets one call: at most one fault that changes the answer, and how late it is.
struct MetFaults: Hashable, Sendable {
    var fault: Fault?
    var delayMilliseconds: Int64 = 0
    var ids: [Int] = []
}

/// The faults in force. The first that meets a call, and whose share says so, is applied; those
/// that only make it slow add up.
///
/// Chance is drawn from the seed, the fault, the purchase and how often the fault looked at that
/// purchase: not from the order in which connections arrive.
struct FaultBook: Sendable {
    private struct Place: Hashable {
        var fault: Int
        var purchase: Int
    }

    private(set) var faults: [Fault] = []
    private var lastID = 0
    private var looks: [Place: UInt64] = [:]
    private let seed: UInt64

    static let defaultSlowness = Latency.fixed(5000)

    init(seed: UInt64) {
        self.seed = seed ^ 0x6661_756c_7473
    }

    var isEmpty: Bool { faults.isEmpty }

    mutating func add(_ fault: Fault) -> Int {
        lastID += 1
        faults.append(fault)
        faults[faults.count - 1].id = lastID
        return lastID
    }

    mutating func remove(id: Int) -> Bool {
        let count = faults.count
        faults.removeAll { $0.id == id }
        return faults.count < count
    }

    mutating func removeAll() {
        faults = []
        looks = [:]
    }

    mutating func pick(_ call: FaultTarget, at now: Instant) -> MetFaults {
        var met = MetFaults()
        for index in faults.indices where faults[index].meets(call, at: now) {
            let isSlow = faults[index].kind == .slow
            if met.fault != nil, !isSlow { continue }
            var chance = chance(faults[index], call)
            if faults[index].share < 1, chance.fraction() >= faults[index].share { continue }
            if let remaining = faults[index].remaining { faults[index].remaining = remaining - 1 }
            faults[index].met += 1
            let latency = faults[index].latency ?? (isSlow ? Self.defaultSlowness : .fixed(0))
            met.delayMilliseconds += latency.draw(&chance)
            met.ids.append(faults[index].id)
            if !isSlow { met.fault = faults[index] }
        }
        return met
    }

    private mutating func chance(_ fault: Fault, _ call: FaultTarget) -> Seeded {
        let place = Place(fault: fault.id, purchase: call.purchase ?? 0)
        let look = looks[place, default: 0] + 1
        looks[place] = look
        var mixed = Seeded(seed: seed &+ UInt64(place.fault) &* 0x9e37_79b9)
        mixed = Seeded(seed: mixed.next() &+ UInt64(place.purchase) &* 0x85eb_ca6b)
        return Seeded(seed: mixed.next() &+ look &* 0xc2b2_ae35)
    }
}
