import Renewal
import Testing

@testable import Stores

extension AppleObservationTests {
    /// The status is not signed, the dates are: where they contradict one another, bad news needs a
    /// second opinion. It is 20 March 2026, noon.
    static let contested = Case.all(
        #"""
        case: billing retry, says the unsigned status, but the signed period runs
        status: 3
        hear: contested hold, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular

        case: billing retry, and the signed grace runs
        status: 3
        transaction: {"expiresDate":1773937200000}
        renewal: {"gracePeriodExpiresDate":1775319600000}
        hear: contested hold, production, plus 26-03-19T16, paid 26-03-19T16,
            until 26-03-19T16, renews yes, regular

        case: grace, and the signed period runs: it is paid
        status: 4
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular

        case: grace without an end
        status: 4
        transaction: {"expiresDate":1773937200000}
        hear: grace, production, plus 26-03-19T16, paid 26-03-19T16, until 26-03-19T16,
            renews yes, regular

        case: grace that was over long ago
        status: 4
        transaction: {"expiresDate":1768641300000}
        renewal: {"gracePeriodExpiresDate":1771319700000}
        hear: contested hold, production, plus 26-01-17T09, paid 26-01-17T09,
            until 26-01-17T09, renews yes, regular

        case: active, and the signed period is over for hours: the renewal is not shown yet
        transaction: {"expiresDate":1773990000000}
        hear: active, production, plus 26-03-20T07, paid 26-03-20T07, until 26-03-20T07,
            renews yes, regular

        case: active, over for hours, and the signed renewal says that it is not paid
        transaction: {"expiresDate":1773990000000}
        renewal: {"isInBillingRetryPeriod":true}
        hear: grace, production, plus 26-03-20T07, paid 26-03-20T07, until 26-03-20T07,
            renews yes, regular

        case: active, and the signed period was over long ago
        transaction: {"expiresDate":1771319700000}
        hear: contested ended periodEnded 26-02-17T09, production, plus 26-02-17T09,
            paid 26-02-17T09, until 26-02-17T09, renews yes, regular

        case: revoked, says the unsigned status alone
        status: 5
        hear: contested refunded -, production, plus 26-04-17T09, paid 26-04-17T09,
            until 26-04-17T09, renews yes, regular

        case: signed in the future
        transaction: {"signedDate":1774011600000}
        hear: malformed signedTransactionInfo.signedDate is in the future

        case: a renewal signed in the future
        renewal: {"signedDate":1774011600000}
        hear: malformed signedRenewalInfo.signedDate is in the future

        case: a type that is not known yet
        transaction: {"type":"Bundle"}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular

        case: upgraded, and taken back in part by that
        status: 5
        transaction: {"isUpgraded":true,"revocationDate":1772719964000}
        hear: replaced -, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular
        """#)

    @Test(arguments: contested)
    func weighsTheUnsignedAgainstTheSigned(_ row: Case) async throws {
        try await hears(row)
    }
}
