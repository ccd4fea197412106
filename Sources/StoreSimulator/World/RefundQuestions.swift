/// A refund or a charge-back that is under review: what the store asks about it, and what it was
/// told.
struct Review: Sendable {
    /// What the seller has said, in the store's own bytes.
    struct Reply: Sendable {
        var at: Instant
        var body: String
        /// Google keeps the first only; Apple looks at the last.
        var isKept: Bool
    }

    enum Outcome: String, Sendable {
        case refunded, declined
    }

    /// From 1 on.
    let number: Int
    let purchase: Int
    let charge: Int
    /// Apple's word, or Google's number as text.
    let reason: String?
    /// Google: what the answer has to name.
    let token: String
    /// Apple asks up to three times.
    var asked: [Instant]
    var replies: [Reply] = []
    var declinedAt: Instant?
    var outcome: Outcome?
}

/// A notification about nothing that happens in a life.
struct Announcement: Sendable {
    var type: String
    var subtype: String?
    var app: String
    /// Nil for what names no purchase.
    var purchase: Int?
    var at: Instant
}

/// What is asked about refunds, and what is announced beside the lives.
struct RefundQuestions: Sendable {
    static let askLimit = 3

    private(set) var reviews: [Review] = []
    private(set) var announcements: [Announcement] = []

    /// Asks about a charge, or, where that is under review, asks again.
    ///
    /// - Returns: the number of the review; nil when the store asks no more.
    mutating func ask(
        _ purchase: Purchase, charge: Int, reason: String?, at now: Instant
    ) -> Int? {
        if let open = reviews.firstIndex(where: {
            $0.purchase == purchase.number && $0.charge == charge && $0.outcome == nil
        }) {
            let isApple = purchase.store == .apple
            guard isApple, reviews[open].asked.count < Self.askLimit else { return nil }
            reviews[open].asked.append(now)
            return reviews[open].number
        }
        let number = reviews.count + 1
        reviews.append(
            Review(
                number: number, purchase: purchase.number, charge: charge, reason: reason,
                token: "prt-\(purchase.number)-\(charge)-\(number)", asked: [now]))
        return number
    }

    func review(_ number: Int) -> Review? {
        reviews.indices.contains(number - 1) ? reviews[number - 1] : nil
    }

    mutating func change(_ number: Int, _ change: (inout Review) -> Void) {
        change(&reviews[number - 1])
    }

    /// The newest review of a charge.
    func review(of purchase: Int, charge: Int) -> Review? {
        reviews.last { $0.purchase == purchase && $0.charge == charge }
    }

    mutating func announce(_ announcement: Announcement) { announcements.append(announcement) }
}
