/// News that a purchase may have changed. It only moves the next check forward; it never decides.
package struct Hint: Hashable, Sendable {
    /// The store's own name of the news: the same again is no news.
    package let id: String
    package let subject: Subject

    /// By what the purchase is found.
    package enum Subject: Hashable, Sendable {
        /// What was submitted. A secret.
        case token(String)
        /// What `Facts.originalID` holds.
        case originalID(String)
    }

    package init(id: String, subject: Subject) {
        self.id = id
        self.subject = subject
    }
}

/// What one pull from a source of hints has brought.
package struct HintPage: Hashable, Sendable {
    package var hints: [Hint]
    /// Where to go on next time; stored with the due marks, in the same transaction. Nil where the
    /// source itself keeps the place.
    package var position: String?
    /// What to give back to the source once the due marks are stored (Pub/Sub's ack ids).
    package var receipts: [String]
    /// Whether there is more to pull at once.
    package var hasMore: Bool
    /// How many pieces of news could not be read or were about another app.
    package var skipped: Int

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
