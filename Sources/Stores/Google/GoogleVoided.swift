package import Renewal

extension GoogleStore {
    /// One page of the purchases that Google has taken back in the last 30 days: refunds with
    /// revocation, charge-backs, cancellations by Google, purchases that nobody acknowledged.
    ///
    /// Google filters by when it saw the void, not by the date in the record, so the place to go
    /// on from is the time of the last complete sweep, and each sweep reaches back beyond it. The
    /// same void again has the same id. At most 30 calls in 30 seconds and 6,000 a day are allowed
    /// for an app.
    ///
    /// <https://developers.google.com/android-publisher/voided-purchases>
    ///
    /// - Parameters:
    ///   - position: of the page before; nil begins 30 days back.
    ///   - now: by the database's clock.
    /// - Returns: the page, and where to go on.
    /// - Throws: when there was no usable answer; the place stays as it is then.
    package func voidedHints(
        after position: String?, at now: Timestamp
    ) async throws(StoreFailure) -> HintPage {
        let place = VoidedPlace(position) ?? VoidedPlace(sweptAt: nil)
        let start = place.start(at: now)
        // A page token brings its window along.
        let window =
            place.pageToken.map { [(name: "token", value: $0)] }
            ?? [(name: "startTime", value: "\(start.microsecondsSinceEpoch / 1000)")]
        let path = try paths.voided(
            window + [("type", "1"), ("includeQuantityBasedPartialRefund", "true")])
        await client.transport.beforeExtraCall()
        let reply = try await client.get(path, calling: "purchases.voidedpurchases.list", at: now)
        // Page tokens do not live for ever: the sweep begins anew, with the next pull.
        if case .failed(.rejected) = reply, place.pageToken != nil {
            return HintPage(hints: [], position: VoidedPlace(sweptAt: place.sweptAt).text)
        }
        let page = try JSON.decode(GoogleVoidedPage.self, from: try reply.wholeAppBody())
        let next = page.tokenPagination?.nextPageToken.flatMap { $0.isEmpty ? nil : $0 }
        let entries = page.voidedPurchases ?? []
        let voids = entries.compactMap(\.value)
        let hints = voids.flatMap(\.hints)
        let beganAt = place.pageToken == nil ? now : place.beganAt ?? now
        let following =
            next.map { VoidedPlace(sweptAt: place.sweptAt, beganAt: beganAt, pageToken: $0) }
            ?? VoidedPlace(sweptAt: beganAt)
        var result = HintPage(
            hints: hints, position: following.text, hasMore: next != nil,
            skipped: entries.count { $0.value?.hints.isEmpty ?? true })
        result.rulings = voids.compactMap(\.ruling)
        return result
    }
}

/// Where a sweep over the voided purchases goes on.
struct VoidedPlace: Hashable, Sendable {
    /// When the last complete sweep began; nil when there was none.
    let sweptAt: Timestamp?
    /// When the sweep under way began, and its next page.
    var beganAt: Timestamp?
    var pageToken: String?

    init(sweptAt: Timestamp?, beganAt: Timestamp? = nil, pageToken: String? = nil) {
        self.sweptAt = sweptAt
        self.beganAt = beganAt
        self.pageToken = pageToken
    }

    /// Reads what `text` has written: `SWEPT` or `SWEPT BEGAN PAGE`, in epoch milliseconds; a dash
    /// for no complete sweep. Anything else is nil.
    init?(_ text: String?) {
        guard let text else { return nil }
        let parts = text.split(separator: " ", maxSplits: 2)
        guard parts.count == 1 || parts.count == 3, let first = parts.first else { return nil }
        let times = parts.prefix(2).map {
            Int64($0).flatMap(Timestamp.init(millisecondsSinceEpoch:))
        }
        guard first == "-" || times[0] != nil else { return nil }
        sweptAt = times[0]
        if parts.count == 3 {
            guard let began = times[1] else { return nil }
            beganAt = began
            pageToken = String(parts[2])
        }
    }

    var text: String {
        var parts = [sweptAt.map(Self.milliseconds) ?? "-"]
        if let beganAt, let pageToken { parts += [Self.milliseconds(beganAt), pageToken] }
        return parts.joined(separator: " ")
    }

    /// Hours of overlap, and never before what is served: whether an earlier time is an error is
    /// not documented.
    func start(at now: Timestamp) -> Timestamp {
        let oldest = now - .days(30) + .minutes(10)
        return max(oldest, (sweptAt ?? oldest) - .hours(6))
    }

    private static func milliseconds(_ instant: Timestamp) -> String {
        "\(instant.microsecondsSinceEpoch / 1000)"
    }
}

/// The answer of `purchases.voidedpurchases.list`; without voids it is empty.
struct GoogleVoidedPage: Decodable, Sendable {
    /// One that cannot be read keeps nobody else's from being heard.
    let voidedPurchases: [Tolerant<Void>]?
    let tokenPagination: Pagination?

    struct Pagination: Decodable, Sendable {
        let nextPageToken: String?
    }

    struct Void: Decodable, Sendable {
        /// Shared by all renewals.
        let purchaseToken: StoreToken?
        /// One for each charge.
        let orderId: Tolerant<OrderID>?
        let voidedTimeMillis: LooseInteger?
        /// Only of a refund of a part of the quantity.
        let voidedQuantity: LenientInteger?
        /// 0 the user, 1 the developer, 2 Google.
        let voidedSource: LooseInteger?
        let voidedReason: LooseInteger?

        /// None where it does not say what it is about. Who wanted it, and why, is news of its own:
        /// the refund itself may have been heard of before, without that.
        var hints: [Hint] {
            guard let purchaseToken = purchaseToken?.readable else { return [] }
            let id = NewsID("google voided \(name)")
            let what = Hint(
                id: id, subject: .token(purchaseToken),
                clue: wholeOrder.map(Clue.refund) ?? .revoked(news: id), happenedAt: voidedAt)
            let words = order.flatMap {
                GoogleVoidWords.clue(
                    of: $0, source: voidedSource?.value, reason: voidedReason?.value)
            }
            guard let words else { return [what] }
            let why = Hint(
                id: "\(id) why", subject: .token(purchaseToken), clue: words, happenedAt: voidedAt)
            return [what, why]
        }

        private var voidedAt: Timestamp? {
            voidedTimeMillis?.value.flatMap(Timestamp.init(millisecondsSinceEpoch:))
        }

        /// What is asked about the refund of the order is settled.
        var ruling: RefundRuling? {
            wholeOrder.map {
                RefundRuling(id: "google ruling \(name)", order: $0, outcome: .refunded)
            }
        }

        /// Without an order it is known by whose it is: another one's is other news.
        private var name: String {
            let when = voidedTimeMillis?.value.map(String.init) ?? "-"
            let part = voidedQuantity.map { "\($0.value)" } ?? "all"
            let what = order?.text ?? NewsID(unnamed: purchaseToken?.text ?? "").text
            return "\(what) \(when) \(part)"
        }

        private var order: OrderID? { orderId?.value?.readable }

        /// A part that was given back leaves the order, and the rest of the purchase, in force.
        private var wholeOrder: OrderID? { voidedQuantity == nil ? order : nil }
    }
}
