import Renewal

/// How the periods of a plan are paid.
enum GoogleBilling: Hashable, Sendable {
    /// Each by itself.
    case byPeriod
    case byInstalments(GoogleInstalments)

    /// Whether it was cancelled, and goes on until all that is owed is paid.
    var isEnding: Bool {
        if case .byInstalments(let plan) = self { plan.isCancellationPending } else { false }
    }

    /// Nil where it cannot be read: nothing else depends on it.
    init?(_ plan: JSONObject) {
        do {
            guard let details = try plan.object("installmentDetails") else {
                self = .byPeriod
                return
            }
            self = .byInstalments(try GoogleInstalments(details))
        } catch {
            return nil
        }
    }
}

/// So many payments are owed, whatever the user turns off. Google bills them by the month.
///
/// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2>
struct GoogleInstalments: Hashable, Sendable {
    /// Payments that the user has first committed to.
    let initial: Int
    /// Payments of the commitment that are still owed.
    let remaining: Int
    /// It was cancelled, and ends when all of them are paid.
    let isCancellationPending: Bool

    private static let limit = 0...1200

    init(_ json: JSONObject) throws(StoreFailure) {
        // What is zero is left out.
        let names = ["initialCommittedPaymentsCount", "remainingCommittedPaymentsCount"]
        var counts: [Int] = []
        for name in names {
            let count = Int(truncatingIfNeeded: try json.integer(name) ?? 0)
            guard Self.limit.contains(count) else { throw .malformed(field: name) }
            counts.append(count)
        }
        (initial, remaining) = (counts[0], counts[1])
        isCancellationPending = try json.has("pendingCancellation")
    }

    /// When the last payment that is owed will have run out.
    ///
    /// - Parameters:
    ///   - expires: end of the latest period.
    ///   - start: when the subscription was bought.
    /// - Returns: the end of the commitment, by the plan's own rhythm as far as that shows.
    func end(after expires: Timestamp, since start: Timestamp?) -> Timestamp {
        let months = { expires.adding(months: remaining) }
        let paid = initial - remaining
        guard let start, paid > 0, expires > start else { return months() }
        if start.adding(months: paid).isNear(expires) { return months() }
        // A tester's months are minutes long. What else is no whole month began with a trial, or
        // its day has slid.
        let each = (expires - start) / paid
        let isOfDays = each < .days(27) || Self.isClose(each, .days(30))
        return isOfDays ? expires + each * remaining : months()
    }

    private static func isClose(_ one: Duration, _ other: Duration) -> Bool {
        max(one, other) - min(one, other) < .minutes(1)
    }
}

extension Timestamp {
    /// Google's ends are some seconds off.
    fileprivate func isNear(_ other: Timestamp) -> Bool {
        (self < other ? other - self : self - other) < .hours(12)
    }
}

extension GoogleObservation {
    /// In trouble the end moves by a day at a time: that of the commitment is the known one then,
    /// and nil where there is none.
    func commitment(_ status: SubscriptionStatus) -> Commitment? {
        guard let main, let billing = main.billing else { return nil }
        guard case .byInstalments(let plan) = billing else { return .absent }
        guard status == .active, let expires = main.expires else {
            guard snapshot.state == .inGracePeriod || snapshot.state == .onHold,
                plan.remaining > 0, main.product == facts.product,
                let end = facts.commitmentEndsAt
            else { return nil }
            return .until(end, renewsNext: true)
        }
        // Cancelled for good, nothing more is charged.
        guard snapshot.state == .active, plan.remaining > 0 else {
            return .until(expires, renewsNext: main.renews)
        }
        return .until(plan.end(after: expires, since: snapshot.startedAt), renewsNext: true)
    }
}
