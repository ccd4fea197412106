/// One transaction of a customer and when it last changed.
struct AppleTransaction: Sendable {
    var purchase: Purchase
    var charge: Charge
    var modified: Instant

    /// All transactions that a life has had.
    static func all(_ purchase: Purchase, _ life: Life) -> [AppleTransaction] {
        life.charges.map { charge in
            let next =
                life.charges.indices.contains(charge.number + 1)
                ? life.charges[charge.number + 1].paidAt : charge.paidAt
            let changed = [
                charge.paidAt, charge.givenBack?.at ?? charge.paidAt,
                charge.isUpgraded ? next : charge.paidAt, charge.seatsBackAt ?? charge.paidAt,
                charge.skusBack.values.max() ?? charge.paidAt,
            ]
            return AppleTransaction(
                purchase: purchase, charge: charge, modified: changed.max() ?? charge.paidAt)
        }
    }

    var id: Int64 { AppleNumbers.transaction(purchase, charge: charge.number) }
}

/// A page of the transaction history or of the refund history: what is asked for, and where the
/// page before ended.
///
/// https://developer.apple.com/documentation/appstoreserverapi/get-v2-history-_anytransactionid_
struct AppleHistory {
    static let pageLimit = 20

    private var products: [String]
    private var groups: [String]
    private var types: [String]
    private var isRevoked: Bool?
    private var start: Instant?
    private var end: Instant?
    private var isDescending = false
    private var after: (modified: Int64, id: Int64)?
    private let isRefunds: Bool

    /// Reads the query; the refusal is the body that the vendor's API gives.
    init(_ request: Request, isRefunds: Bool) throws(Refusal) {
        products = request.queries("productId")
        groups = request.queries("subscriptionGroupIdentifier")
        types = request.queries("productType")
        self.isRefunds = isRefunds
        switch request.query("sort") {
        case nil, "ASCENDING": break
        case "DESCENDING": isDescending = true
        default: throw Refusal(4_000_021, "Invalid request. Invalid sort value.")
        }
        switch request.query("revoked")?.lowercased() {
        case nil: break
        case "true": isRevoked = true
        case "false": isRevoked = false
        default: throw Refusal(4_000_030, "Invalid request. Invalid revoked value.")
        }
        if let text = request.query("startDate") {
            guard let milliseconds = Int64(text) else {
                throw Refusal(4_000_015, "Invalid request. Invalid start date.")
            }
            start = Instant(milliseconds: milliseconds)
        }
        if let text = request.query("endDate") {
            guard let milliseconds = Int64(text) else {
                throw Refusal(4_000_016, "Invalid request. Invalid end date.")
            }
            end = Instant(milliseconds: milliseconds)
        }
        if let text = request.query("revision"), !take(revision: text) {
            throw Refusal(4_000_005, "Invalid request revision.")
        }
    }

    struct Page {
        var transactions: [AppleTransaction]
        var revision: String
        var hasMore: Bool
    }

    /// The next page; a revision without new transactions comes back as it was.
    func page(_ all: [AppleTransaction]) -> Page {
        let wanted = all.filter(isWanted).sorted { left, right in
            let isBefore = (left.modified, left.id) < (right.modified, right.id)
            return isDescending ? !isBefore && left.id != right.id : isBefore
        }
        let rest = wanted.filter { transaction in
            guard let after else { return true }
            let place = (transaction.modified.milliseconds, transaction.id)
            return isDescending ? place < after : place > after
        }
        let page = Array(rest.prefix(Self.pageLimit))
        let end = page.last.map { ($0.modified.milliseconds, $0.id) } ?? after ?? (0, 0)
        return Page(
            transactions: page, revision: revision(end), hasMore: rest.count > page.count)
    }

    private func isWanted(_ transaction: AppleTransaction) -> Bool {
        let charge = transaction.charge
        if isRefunds { return charge.givenBack?.cause == .refund }
        if let isRevoked, isRevoked != (charge.givenBack != nil) { return false }
        if let start, charge.start < start { return false }
        if let end, charge.start >= end { return false }
        return (products.isEmpty || products.contains(charge.product))
            && (groups.isEmpty || groups.contains(transaction.purchase.group))
            && (types.isEmpty
                || types.contains(Apple.filterName(transaction.purchase.timeline.terms.kind)))
    }

    /// A revision belongs to the filters of the call that gave it.
    private var fingerprint: Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        let parts =
            products + groups + types + [
                "\(isRefunds)\(isDescending)\(isRevoked.map { "\($0)" } ?? "")",
                "\(start?.milliseconds ?? 0)-\(end?.milliseconds ?? 0)",
            ]
        for byte in parts.joined(separator: "|").utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return Int64(hash >> 2)
    }

    private func revision(_ end: (modified: Int64, id: Int64)) -> String {
        let text = "\(fingerprint)_\(end.modified)_\(end.id)"
        return String(decoding: Base64.url(text.utf8), as: UTF8.self)
    }

    private mutating func take(revision text: String) -> Bool {
        guard let bytes = Base64.bytes(ofURL: text[...].utf8) else { return false }
        let numbers = String(decoding: bytes, as: UTF8.self).split(separator: "_")
            .compactMap { Int64($0) }
        guard numbers.count == 3, numbers[0] == fingerprint else { return false }
        after = (numbers[1], numbers[2])
        return true
    }
}
