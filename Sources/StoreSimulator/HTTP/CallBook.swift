/// Counts what was asked, so that a test can tell how often a client called.
struct CallBook: Sendable {
    private(set) var calls: [StoreName: Int] = [:]
    private(set) var statuses: [Int: Int] = [:]
    private(set) var tokensIssued = 0
    private(set) var maxPerSecond: [StoreName: Int] = [:]
    private var perPurchase: [Int] = []
    private var presentSecond: [StoreName: (second: Int64, count: Int)] = [:]

    /// Counts one call; `second` is of the machine's clock, since the simulated one may jump.
    mutating func count(_ store: StoreName, purchase: Int?, second: Int64) {
        calls[store, default: 0] += 1
        let present = presentSecond[store]
        let inSecond = present?.second == second ? (present?.count ?? 0) + 1 : 1
        presentSecond[store] = (second, inSecond)
        maxPerSecond[store] = max(maxPerSecond[store] ?? 0, inSecond)
        guard let purchase else { return }
        if perPurchase.count <= purchase {
            perPurchase.append(
                contentsOf: repeatElement(0, count: purchase + 1 - perPurchase.count))
        }
        perPurchase[purchase] += 1
    }

    mutating func answered(_ status: Int) { statuses[status, default: 0] += 1 }

    mutating func issuedToken() { tokensIssued += 1 }

    func count(ofPurchase number: Int) -> Int {
        number < perPurchase.count ? perPurchase[number] : 0
    }

    /// How many purchases were asked about at all.
    var purchases: Int { perPurchase.count { $0 > 0 } }

    /// Calls about a purchase that had been asked about before.
    var duplicates: Int { perPurchase.reduce(0) { $0 + max(0, $1 - 1) } }
}
