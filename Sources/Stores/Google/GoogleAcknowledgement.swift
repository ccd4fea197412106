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
        let path = try paths.acknowledgement(
            of: purchase, isSubscription: kind(of: purchase) == .autoRenewable)
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
