/// One way in which a store fails, and for whom.
struct Fault: Hashable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// An error of the store's own shape with this status.
        case status
        /// A web page with status 200 (or another one).
        case html
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
        /// The right answer, late.
        case slow
        /// Apple: signed by a foreign key; signed by an expired certificate.
        case wrongSignature = "wrong_signature"
        case expiredCertificate = "expired_certificate"
        /// The answer of another purchase of the same store.
        case otherPurchase = "other_purchase"
        /// The answer of some time ago.
        case stale
        case notFound = "not_found"
        /// 410, always or once.
        case gone
        case goneOnce = "gone_once"
        case throttle
        case unauthorized
    }

    /// What kind of call it meets; Google's token endpoint has its own.
    enum Endpoint: String, Sendable {
        case read
        case token
    }

    var id = 0
    var kind: Kind
    var store: StoreName?
    var purchase: Int?
    var endpoint = Endpoint.read
    var status: Int?
    /// The share of calls that are met, from 0 to 1.
    var share = 1.0
    var latencyMilliseconds: Int64?
    /// How many more calls are met; nil for no limit.
    var remaining: Int?
    var retryAfterSeconds: Int64?
    /// When it is over by the simulated clock; nil for never.
    var ends: Instant?
    /// How old a stale answer is.
    var age = Period.days(1)

    init(kind: Kind) {
        self.kind = kind
        if kind == .goneOnce { remaining = 1 }
    }

    /// Only Apple signs what it says.
    var isForAppleOnly: Bool { kind == .wrongSignature || kind == .expiredCertificate }

    func meets(
        _ store: StoreName, _ purchase: Int?, _ endpoint: Endpoint, at now: Instant
    ) -> Bool {
        if let ends, now >= ends { return false }
        if let own = self.store, own != store { return false }
        if let own = self.purchase, own != purchase { return false }
        if isForAppleOnly, store != .apple { return false }
        return endpoint == self.endpoint && remaining != 0
    }
}

/// The faults in force. The first that meets a call, and whose share says so, is applied.
struct FaultBook: Sendable {
    private(set) var faults: [Fault] = []
    private var lastID = 0
    private var chance: Seeded

    init(seed: UInt64) {
        chance = Seeded(seed: seed ^ 0x6661_756c_7473)
    }

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

    mutating func removeAll() { faults = [] }

    mutating func pick(
        _ store: StoreName, purchase: Int?, endpoint: Fault.Endpoint, at now: Instant
    ) -> Fault? {
        for index in faults.indices
        where faults[index].meets(store, purchase, endpoint, at: now) {
            if faults[index].share < 1, chance.fraction() >= faults[index].share { continue }
            if let remaining = faults[index].remaining { faults[index].remaining = remaining - 1 }
            return faults[index]
        }
        return nil
    }
}
