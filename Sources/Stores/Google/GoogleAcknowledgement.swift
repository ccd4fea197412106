package import Renewal

extension GoogleStore {
    /// Tells Google that the purchase has arrived, so that it is not refunded after three days.
    /// Only for an operator who wants it: normally the app does it once it has given what was
    /// bought.
    ///
    /// What Google says only until then (`outOfAppPurchaseContext`) must have been stored before.
    /// Saying it twice does no harm.
    ///
    /// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptions>
    ///
    /// - Throws: `.rejected` when there is nothing to acknowledge any more.
    package func acknowledge(
        _ purchase: Purchase, at now: Timestamp
    ) async throws(StoreFailure) {
        guard let kind = kind(of: purchase) else {
            // The first check has learned which it is; this is the purchase as it was before.
            do throws(StoreFailure) {
                return try await acknowledge(purchase, isSubscription: true, at: now)
            } catch .rejected {
                return try await acknowledge(purchase, isSubscription: false, at: now)
            }
        }
        try await acknowledge(purchase, isSubscription: kind == .autoRenewable, at: now)
    }

    private func acknowledge(
        _ purchase: Purchase, isSubscription: Bool, at now: Timestamp
    ) async throws(StoreFailure) {
        let path = try paths.acknowledgement(of: purchase, isSubscription: isSubscription)
        switch try await client.post(path, Nothing(), calling: "acknowledge", at: now) {
        case .answer: return
        case .gone: throw .rejected(reason: "status 410")
        case .staleToken: throw .refused(reason: "status 401")
        case .failed(let failure): throw failure
        }
    }

    /// `{}`.
    private struct Nothing: Encodable {}
}
