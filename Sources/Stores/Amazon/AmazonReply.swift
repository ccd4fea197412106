import Curl
import Renewal

/// An answer of Receipt Verification Service, sorted by its status alone: bodies of errors are
/// JSON, HTML or nothing.
enum AmazonReply: Hashable, Sendable {
    case answer([UInt8])
    /// To be treated as cancelled.
    case gone
    /// 400: this environment does not know the receipt.
    case unknownReceipt
    case failed(StoreFailure)

    /// `now` is what a point in time in `Retry-After` is measured from.
    init(_ response: HTTPResponse, at now: Timestamp) {
        self =
            switch response.status {
            case 200: .answer(response.body)
            case 400: .unknownReceipt
            case 410: .gone
            case 429:
                .failed(.throttled(retryAfter: RetryAfter.delay(response.retryAfter, at: now)))
            case 496: .failed(.refused(reason: "status 496, bad shared secret"))
            case 497: .failed(.rejected(reason: "status 497, the user does not match"))
            default: .failed(StoreFailure(commonStatus: response.status))
            }
    }
}
