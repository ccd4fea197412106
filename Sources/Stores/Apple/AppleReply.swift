import Curl
import Renewal

/// The content of an answer, and what time it was at the store.
struct AppleBody: Hashable, Sendable {
    let bytes: [UInt8]
    /// Nil where the answer does not say.
    let date: Timestamp?

    init(_ response: HTTPResponse) {
        bytes = response.body
        date = response.storeNow
    }
}

/// An answer of the App Store Server API, sorted by status and error code before any of its
/// content is believed.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/error-codes>
enum AppleReply: Hashable, Sendable {
    case answer(AppleBody)
    /// This environment does not know the transaction.
    case notFound
    /// This environment does not take it for a transaction id.
    case invalidIdentifier
    /// The token was refused. Such answers have no JSON.
    case unauthorized
    case failed(StoreFailure)

    /// `now` is what a point in time in `Retry-After` is measured from.
    init(_ response: HTTPResponse, at now: Timestamp) {
        self =
            switch response.status {
            case 200: .answer(AppleBody(response))
            case 401: .unauthorized
            case 400, 404: AppleReply(code: Self.errorCode(response), status: response.status)
            case 403: .failed(.refused(reason: "status 403"))
            case 429:
                .failed(.throttled(retryAfter: RetryAfter.delay(response.retryAfter, at: now)))
            default: .failed(StoreFailure(commonStatus: response.status))
            }
    }

    private init(code: Int64?, status: Int) {
        self =
            switch code {
            // The last is an app transaction id where only a transaction's own will do.
            case 4_000_006, 4_000_008, 4_000_048: .invalidIdentifier
            case 4_040_001, 4_040_005, 4_040_010: .notFound
            // Apple says of these to try again.
            case 4_040_002, 4_040_004, 4_040_006:
                .failed(.unreachable(reason: "errorCode \(code ?? 0)"))
            // The app is not known, or not by these credentials.
            case 4_000_002, 4_040_003: .failed(.refused(reason: "errorCode \(code ?? 0)"))
            case .some(let code): .failed(.malformed(field: "status \(status), errorCode \(code)"))
            case nil: .failed(.malformed(field: "status \(status) without an errorCode"))
            }
    }

    static func errorCode(_ response: HTTPResponse) -> Int64? {
        try? JSON.decode(AppleErrorBody.self, from: response.body).errorCode
    }
}

extension StoreFailure {
    /// What a status means that no store gives a meaning of its own.
    init(commonStatus status: Int) {
        self =
            switch status {
            case 300..<400: .malformed(field: "redirect, status \(status)")
            case 408, 500...: .unreachable(reason: "status \(status)")
            default: .malformed(field: "status \(status)")
            }
    }
}
