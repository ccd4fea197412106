import Renewal

/// A subscription as either version of the interface tells it, its fields checked.
struct GoogleSnapshot: Hashable, Sendable {
    var state: GoogleState
    var items: [GoogleItem]
    var payment = GooglePayment.byOrders
    /// The last order whatever became of it: paid, pending or declined. Google means to drop it.
    var latestOrder: OrderID?
    /// The order of a renewal that was declined.
    var declinedOrder: OrderID?
    /// The purchase that this one continues.
    var predecessorToken: StoreToken?
    /// The account of the app's own that it named at the purchase.
    var accountToken: UserID?
    var startedAt: Timestamp?
    var resumesAt: Timestamp?
    var cancellation: GoogleCancellation?
    var isTest = false
    /// Google waits for the app or its backend to say that the purchase has arrived.
    var awaitsAcknowledgement = false
    /// What is not of one item.
    var notes = SaleNotes()

    /// Every order that the answer names, that of the item in question first.
    func orders(first main: GoogleItem?) -> [OrderID] {
        let orders = [main?.paidOrder, latestOrder, declinedOrder] + items.map(\.paidOrder)
        return orders.compactMap { $0 }
    }
}

/// Google Play Developer API, `SubscriptionState` of *purchases.subscriptionsv2*.
enum GoogleState: String, Hashable, Sendable, CaseIterable {
    case pending = "PENDING"
    case active = "ACTIVE"
    case paused = "PAUSED"
    case inGracePeriod = "IN_GRACE_PERIOD"
    case onHold = "ON_HOLD"
    case canceled = "CANCELED"
    case expired = "EXPIRED"
    case pendingPurchaseCanceled = "PENDING_PURCHASE_CANCELED"
    /// Left out, or a word that Google has added since.
    case unknown = "a state that is not known"

    init(_ text: String?) {
        let prefix = "SUBSCRIPTION_STATE_"
        let word = text.flatMap { $0.hasPrefix(prefix) ? $0.dropFirst(prefix.count) : nil }
        self = word.flatMap { GoogleState(rawValue: String($0)) } ?? .unknown
    }

    /// Whether nothing of it has ever been owned.
    var isPending: Bool { self == .pending || self == .pendingPurchaseCanceled }

    /// Whether some of it may be in force.
    var mayRun: Bool { [.active, .inGracePeriod, .canceled].contains(self) }
}

/// Who ended it.
enum GoogleCancellation: String, Hashable, Sendable {
    case user, system, developer, replacement
    /// Said in a word that is not known.
    case other
}

/// Order ids: a base for the sign-up, and `..0`, `..1` and so on for its renewals.
struct GoogleOrderID: Hashable, Sendable {
    let base: OrderID
    /// 0 is the first renewal; nil is the sign-up.
    let renewal: Int?

    init(_ order: OrderID) {
        let id = order.text
        let (bytes, dot) = (id.utf8, UInt8(ascii: "."))
        guard let dots = bytes.lastIndex(of: dot), dots > bytes.startIndex,
            bytes[bytes.index(before: dots)] == dot,
            let number = Self.number(id[bytes.index(after: dots)...])
        else {
            base = order
            renewal = nil
            return
        }
        base = OrderID(String(id[..<bytes.index(before: dots)]))
        renewal = number
    }

    private static func number(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    static func base(of id: OrderID) -> OrderID { GoogleOrderID(id).base }

    /// Whether it names an earlier period of the same series.
    func isBefore(_ other: GoogleOrderID) -> Bool {
        base == other.base && (renewal ?? -1) < (other.renewal ?? -1)
    }
}
