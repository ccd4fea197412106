import Renewal

// Monthly plans with a commitment of twelve months (App Store Server API 1.21). `expiresDate` and
// `autoRenewStatus` are the billing period's: who cancels keeps 1 until the last one, as what is
// owed is charged all the same. What cannot be read is as if it were not there.
extension AppleSubscription {
    /// Until when its buyer has committed to pay.
    private var commitmentEnd: Timestamp? {
        let told = [
            transaction.commitmentInfo?.commitmentExpiresDate,
            renewal?.commitmentInfo?.commitmentRenewalDate,
        ].compactMap { $0 }.first
        let window = DateWindow(now: time.now)
        guard let told,
            let end = try? window.date(milliseconds: told, field: "commitmentExpiresDate"),
            // A commitment ends with one of its periods; that of an earlier one is no news.
            let paid = transaction.expiresDate.flatMap({
                Timestamp(millisecondsSinceEpoch: $0)
            }), end >= paid
        else { return nil }
        return end
    }

    /// Whether the last period of the commitment is paid.
    private func isLastPeriod(until end: Timestamp) -> Bool {
        let info = transaction.commitmentInfo
        if let number = info?.billingPeriodNumber,
            let total = info?.totalBillingPeriods,
            number > 0, total > 0
        {
            return number >= total
        }
        return transaction.expiresDate.flatMap { Timestamp(millisecondsSinceEpoch: $0) }
            .map { $0 >= end } ?? false
    }

    var commitment: Commitment? {
        guard !isShared else { return .absent }
        if let end = commitmentEnd { return .until(end, renewsNext: renewsNext(before: end)) }
        return transaction.billingPlanType == "BILLED_UPFRONT" ? .absent : nil
    }

    /// Whether another period will be charged.
    private func renewsNext(before end: Timestamp) -> Bool? {
        isLastPeriod(until: end) ? commitmentRenews : periodRenews
    }

    /// Whether it goes on after the commitment, or without one after the period.
    var goesOn: Bool? { commitmentEnd == nil || isShared ? periodRenews : commitmentRenews }

    /// Whether nothing follows the period that was paid last.
    var isTurnedOff: Bool {
        guard !isShared, let end = commitmentEnd else { return periodRenews == false }
        return renewsNext(before: end) == false
    }

    /// The product of what follows.
    var nextProduct: ProductID? {
        guard let renewal else { return nil }
        if let next = renewal.commitmentInfo?.commitmentAutoRenewProductId,
            commitmentRenews == true, next != transaction.productId
        {
            return next
        }
        return periodRenews == true ? renewal.autoRenewProductId : nil
    }

    private var periodRenews: Bool? { renewal?.autoRenewStatus.map { $0 == 1 } }

    private var commitmentRenews: Bool? {
        renewal?.commitmentInfo?.commitmentAutoRenewStatus.map { $0 == 1 }
    }

    var commitmentWords: [String] {
        let info = transaction.commitmentInfo
        var words: [String] = []
        if let number = info?.billingPeriodNumber,
            let total = info?.totalBillingPeriods
        {
            words.append("period \(number) of \(total)")
        }
        if let renews = commitmentRenews {
            words.append("commitmentAutoRenewStatus \(renews ? 1 : 0)")
        }
        if let end = commitmentEnd { words.append("commitmentExpiresDate \(end.text)") }
        return words
    }
}
