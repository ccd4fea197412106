import Curl
import Renewal

/// An answer of verifyReceipt, sorted by its status. The HTTP status is 200 for nearly all.
///
/// <https://developer.apple.com/documentation/appstorereceipts/status>
enum AppleReceiptReply: Sendable {
    /// Authentic; 21006 says that it has expired, and only of receipts of iOS 6.
    case answer(AppleReceiptResponse, hasExpired: Bool, date: Timestamp?)
    /// It belongs to the other environment.
    case misdirected
    /// 21003 and 21004: the receipt or the secret, which may be wanted or not wanted.
    case unauthentic(status: Int)
    /// 21010: there is no such account any more.
    case noAccount
    case failed(StoreFailure)

    init(_ response: HTTPResponse, at now: Timestamp) {
        switch response.status {
        case 200..<300:
            do throws(StoreFailure) {
                self = AppleReceiptReply(
                    try JSON.decode(
                        AppleReceiptResponse.self,
                        from: response.body.map { $0 < 0x20 ? 0x20 : $0 }),
                    date: response.storeNow)
            } catch {
                self = .failed(error)
            }
        case 429:
            self = .failed(
                .throttled(retryAfter: RetryAfter.delay(response.retryAfter, at: now)))
        case let status:
            self = .failed(StoreFailure(commonStatus: status))
        }
    }

    private init(_ response: AppleReceiptResponse, date: Timestamp?) {
        let status = response.status
        let isRetryable = response.isRetryable?.isSet
        self =
            switch status {
            case 0: .answer(response, hasExpired: false, date: date)
            case 21_006: .answer(response, hasExpired: true, date: date)
            case 21_002: .failed(.rejected(reason: "status 21002"))
            case 21_003, 21_004: .unauthentic(status: status)
            case 21_007, 21_008: .misdirected
            case 21_010 where isRetryable != true: .noAccount
            case 21_100...21_199 where isRetryable == false:
                .failed(.rejected(reason: "status \(status)"))
            case 21_001, 21_005, 21_009, 21_010, 21_100...21_199:
                .failed(.unreachable(reason: "status \(status)"))
            default: .failed(.malformed(field: "status \(status)"))
            }
    }
}
