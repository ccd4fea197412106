/// News that a purchase may have changed. It only moves the next check forward; it never decides.
package struct Hint: Hashable, Sendable {
    /// The store's own name of the news: the same again is no news.
    package let id: NewsID
    package let subject: Subject
    /// What it lets a check look into; nil where the answer shows it all.
    package let clue: Clue?
    /// What the app had given the store for its user; nil where the news has none.
    package let accountToken: String?
    /// When the store says that it happened; nil where it does not matter, or the news does not say
    /// so. The same that happens once more, long after it was looked into, is news.
    package let happenedAt: Timestamp?

    /// By what the purchase is found.
    package enum Subject: Hashable, Sendable {
        /// What was submitted. A secret.
        case token(StoreToken)
        /// What `Facts.originalID` holds.
        case originalID(OrderID)
    }

    package init(
        id: NewsID, subject: Subject, clue: Clue? = nil, accountToken: String? = nil,
        happenedAt: Timestamp? = nil
    ) {
        self.id = id
        self.subject = subject
        self.clue = clue
        self.accountToken = accountToken
        self.happenedAt = happenedAt
    }
}

/// What a source of news tells of.
package enum NewsScope: Int, Hashable, Sendable, Comparable {
    /// Money that was given back.
    case refunds
    case everything

    package static func < (one: NewsScope, other: NewsScope) -> Bool {
        one.rawValue < other.rawValue
    }
}

/// Something that the answer about a purchase does not show and that a hint has named. Kept with
/// the purchase until a check has looked into it: a hint alone tells nothing.
package enum Clue: Hashable, Sendable {
    /// This order, or this transaction of Apple, was refunded.
    case refund(of: OrderID)
    /// A pause was scheduled, moved or called off; said by the news of this id.
    case pause(news: NewsID)
    /// It was taken back, an order is not named; said by the news of this id.
    case revoked(news: NewsID)
    /// Who wanted the refund of this order, and why: told with it, and nothing to look into.
    case void(of: OrderID, source: String, reason: String)

    /// Whether it tells that access was taken back, and of no order.
    package var isRevocation: Bool {
        if case .revoked = self { true } else { false }
    }

    /// As it is stored: `refund ORDER`, `pause ID`, `revoked ID` or `void SOURCE REASON ORDER`.
    package var text: String {
        switch self {
        case .refund(let order): "refund \(order.text)"
        case .pause(let news): "pause \(news.text)"
        case .revoked(let news): "revoked \(news.text)"
        case .void(let order, let source, let reason): "void \(source) \(reason) \(order.text)"
        }
    }

    /// Reads what `text` has written; anything else is nil.
    package init?(text: String) {
        // By bytes: a blank and a mark that joins it are one `Character`.
        let parts = text.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1).map { part in
            String(Substring(part))
        }
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "refund": self = .refund(of: OrderID(parts[1]))
        case "pause": self = .pause(news: NewsID(parts[1]))
        case "revoked": self = .revoked(news: NewsID(parts[1]))
        case "void":
            let words = parts[1].utf8.split(separator: UInt8(ascii: " "), maxSplits: 2).map {
                String(Substring($0))
            }
            guard words.count == 3 else { return nil }
            self = .void(of: OrderID(words[2]), source: words[0], reason: words[1])
        default: return nil
        }
    }
}

extension Set<Clue> {
    /// The orders whose refund was heard of.
    package var refundedOrders: Set<OrderID> {
        Set<OrderID>(
            compactMap { clue in
                if case .refund(let order) = clue { order } else { nil }
            })
    }
}

/// What one pull from a source of hints has brought.
package struct HintPage: Hashable, Sendable {
    package var hints: [Hint]
    /// What a store asks about refunds, in the order of the news.
    package var questions: [RefundQuestion] = []
    /// What came of such questions.
    package var rulings: [RefundRuling] = []
    package var unhandled: [UnhandledNews] = []
    /// Where to go on next time; stored with the due marks, in the same transaction. Nil where the
    /// source itself keeps the place.
    package var position: String?
    /// What to give back to the source once the due marks are stored (Pub/Sub's ack ids).
    package var receipts: [String]
    /// Whether there is more to pull at once.
    package var hasMore: Bool
    /// How many pieces of news could not be read or were about another app.
    package var skipped: Int
    /// Why a part of the source could not be read, where the rest was. The place of that part
    /// stays.
    package var failure: StoreFailure?

    package init(
        hints: [Hint], position: String? = nil, receipts: [String] = [], hasMore: Bool = false,
        skipped: Int = 0
    ) {
        self.hints = hints
        self.position = position
        self.receipts = receipts
        self.hasMore = hasMore
        self.skipped = skipped
    }
}
