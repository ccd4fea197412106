import Renewal

/// The subscriptions that one is an add-on of, as far as Amazon tells.
struct AmazonBases: Sendable {
    /// Of those that were asked about.
    fileprivate var observations: [Observation] = []
    /// Those of which Amazon has not said yet why they are over.
    fileprivate var endedWithoutReason: Set<OrderID> = []
    /// Not every one could be asked about: one of them may run.
    fileprivate var isIncomplete = false
    /// Why one could not be asked about. An add-on that has ended is not given back by that.
    fileprivate(set) var failure: StoreFailure?
}

extension AmazonStore {
    /// Asks about the bases of an add-on, with the same user (design rule 16). What cannot be
    /// asked about ends nothing.
    ///
    /// - Throws: `.throttled`, so that the calls that follow wait as well.
    func bases(
        of addOn: AmazonReceipt, for purchase: Purchase, in environment: StoreEnvironment,
        at now: Timestamp
    ) async throws(StoreFailure) -> AmazonBases {
        var bases = AmazonBases()
        bases.isIncomplete = addOn.baseReceipts.count > Self.most
        for token in addOn.baseReceipts.prefix(Self.most) where token != purchase.token {
            do throws(StoreFailure) {
                let (base, lacksReason) = try await base(
                    token, for: purchase, in: environment, at: now)
                // It goes on as another receipt, which nobody has named yet: its own receipt says
                // what becomes of the add-on.
                if case .replaced = base.status {
                    bases.isIncomplete = true
                    continue
                }
                bases.observations.append(base)
                if base.givesAccess { bases.failure = nil }
                if lacksReason, let id = base.originalID { bases.endedWithoutReason.insert(id) }
                if base.givesAccess, base.willRenew != false { return bases }
            } catch {
                if case .throttled = error { throw error }
                bases.isIncomplete = true
                let runs = bases.observations.contains(where: \.givesAccess)
                bases.failure = runs ? nil : error
            }
        }
        return bases
    }

    /// What the user has handed in is judged by what is known of it, as in its own check.
    ///
    /// - Throws: also for a receipt that Amazon does not know, or says is no longer valid: that is
    ///   no word about the add-on.
    private func base(
        _ token: StoreToken, for purchase: Purchase, in environment: StoreEnvironment,
        at now: Timestamp
    ) async throws(StoreFailure) -> (Observation, lacksReason: Bool) {
        var asked = try AmazonIdentifier(purchase)
        asked.receipt = try PathSegment(token.text, what: "base receipt id")
        await transport.beforeExtraCall()
        let heard = try await reply(about: asked, from: environment, at: now)
        if case .failed(let failure) = heard.reply, case .throttled = failure { throw failure }
        guard case .answer(let body) = heard.reply else {
            throw .unreachable(reason: "the base subscription is not shown")
        }
        let receipt = try AmazonReceipt(body)
        // A base that runs needs nothing that is known of it.
        let known =
            receipt.cancelDate == nil ? nil : try await transport.session?.known.facts(token)
        var facts = known ?? Facts(product: purchase.facts.product)
        facts.paidThrough = facts.paidThrough ?? receipt.paidThroughAtLeast(in: environment)
        var base = try AmazonObservation(
            receipt, asked: token, from: environment, facts: facts, at: now,
            provenUpTo: heard.proven
        ).observation
        // Where a refund lets what was paid run out, the add-on goes on as long as its base.
        if case .refunded = base.status { base.paidThrough = facts.paidThrough }
        return (base, receipt.lacksReason)
    }

    /// Subscriptions of one customer that an add-on may have been bought for.
    private static let most = 4
}

extension AmazonReceipt {
    /// How long a base that nobody has handed in was paid for, as far as its receipt alone tells: a
    /// renewal date that is still named after the end is that of the term that was paid. Else it
    /// was paid for to the end of the term in which its customer or a refund has ended it. A
    /// tester's term is shorter than it says.
    fileprivate func paidThroughAtLeast(in environment: StoreEnvironment) -> Timestamp? {
        if let renewalDate { return Timestamp(millisecondsSinceEpoch: renewalDate) }
        guard environment == .production, !isTest, cancelReason == 1, freeTrialEndDate == nil,
            let bought = purchaseDate.flatMap({ Timestamp(millisecondsSinceEpoch: $0) }),
            let cancelled = cancelDate.flatMap({ Timestamp(millisecondsSinceEpoch: $0) }),
            let length = termLength
        else { return nil }
        return length.end(ofTermWith: cancelled, since: bought)
    }

    /// Nil for words that are not known.
    private var termLength: TermLength? {
        let words = (term ?? "").lowercased().split(separator: " ")
        guard words.count == 2, let count = Int(words[0]), (1...12).contains(count) else {
            return nil
        }
        return switch words[1] {
        case "week", "weeks": .weeks(count)
        case "month", "months": .months(count)
        case "year", "years": .months(12 * count)
        default: nil
        }
    }
}

private enum TermLength {
    case weeks(Int)
    case months(Int)

    /// Terms may begin so much beside their day.
    private static let slack = Duration.days(2)

    /// When the term ends, at the earliest, in which that is.
    ///
    /// - Returns: nil where it may be the end of a term itself, as when a customer had turned
    ///   renewal off.
    func end(ofTermWith time: Timestamp, since bought: Timestamp) -> Timestamp? {
        guard time > bought else { return nil }
        for number in 1...Self.most {
            let end = end(ofTerm: number, since: bought)
            if end > time + Self.slack { return end - Self.slack }
            if end >= time - Self.slack { return nil }
        }
        return nil
    }

    private func end(ofTerm number: Int, since bought: Timestamp) -> Timestamp {
        switch self {
        case .weeks(let count): bought + .days(7 * count * number)
        case .months(let count): bought.adding(months: count * number)
        }
    }

    /// Twenty years of weeks.
    private static let most = 1040
}

extension Observation {
    /// An add-on ends with its base, for the base's reason: with the last of them, where there are
    /// several.
    ///
    /// - Returns: whether Amazon has not said yet why that one is over.
    mutating func end(with bases: AmazonBases) -> Bool {
        guard !bases.isIncomplete, !bases.observations.isEmpty else { return false }
        let running = bases.observations.filter(\.givesAccess)
        guard running.isEmpty else {
            let ends = running.map { $0.willRenew == false ? $0.expiresAt : nil }
            guard let last = ends.compactMap({ $0 }).max(), ends.allSatisfy({ $0 != nil }) else {
                return false
            }
            // The bases are about to end: looked at again then.
            askAgainBy = min(askAgainBy ?? .never, last)
            return false
        }
        let last = bases.observations.max {
            $0.status.endedAt ?? .never < $1.status.endedAt ?? .never
        }
        guard let last else { return false }
        observed = .own(last.status)
        if let ended = last.status.endedAt {
            expiresAt = ended
            items = items.map { Item(names: $0.names, expiresAt: ended) }
        }
        paidThrough = last.paidThrough
        willRenew = false
        // Some hours after an end whose reason Amazon fills in later.
        askAgainBy = [askAgainBy, last.askAgainBy].compactMap { $0 }.min()
        signals = []
        words += "; the base has ended: \(last.words)"
        return last.originalID.map(bases.endedWithoutReason.contains) ?? false
    }
}

extension Facts {
    /// Access was given, and is over.
    var hasEnded: Bool { wasGranted && access != .granted }
}
