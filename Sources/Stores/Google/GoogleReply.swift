import Curl
import Renewal

/// An answer of the Google Play Developer API, sorted by status and reason before any of its
/// content is believed.
enum GoogleReply: Hashable, Sendable {
    case answer([UInt8])
    /// The access token is not taken any more; another may be.
    case staleToken
    case gone
    case failed(StoreFailure)

    /// `now` is what a point in time in `Retry-After` is measured from.
    init(_ response: HTTPResponse, at now: Timestamp) {
        let delay = RetryAfter.delay(response.retryAfter, at: now)
        switch response.status {
        case 200, 204:
            // A call that only writes is answered without a body.
            self = .answer(response.body)
        case 400, 401, 403, 404:
            self = GoogleReply(
                status: response.status, reason: Reason(response.body), delay: delay)
        case 409:
            self = .failed(.unreachable(reason: "status 409"))
        case 410:
            self = .gone
        case 429:
            self = .failed(.throttled(retryAfter: delay))
        default:
            self = .failed(StoreFailure(commonStatus: response.status))
        }
    }

    private init(status: Int, reason: Reason, delay: Duration?) {
        let words = reason.name.map { "status \(status), \($0)" } ?? "status \(status)"
        self =
            switch status {
            case 400: .failed(.rejected(reason: words))
            case 401: reason.isAboutPermission ? .failed(.refused(reason: words)) : .staleToken
            case 403:
                .failed(reason.isQuota ? .throttled(retryAfter: delay) : .refused(reason: words))
            default:
                reason.name == "applicationNotFound"
                    ? .failed(.refused(reason: words)) : .failed(.rejected(reason: words))
            }
    }

    /// The reason of an error, when it is one of the known ones: what was sent is not repeated.
    private struct Reason {
        let name: String?

        init(_ body: [UInt8]) {
            let content = try? JSON.decode(GoogleErrorBody.self, from: body).error
            let sent = (content?.errors ?? []).compactMap(\.reason) + [content?.status ?? ""]
            name = sent.lazy.compactMap { text in Self.known.first { $0 == text } }.first
        }

        var isQuota: Bool { Self.quota.contains { $0 == name } }
        var isAboutPermission: Bool { Self.permission.contains { $0 == name } }

        private static let quota = [
            "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded",
            "RESOURCE_EXHAUSTED",
        ]
        private static let permission = [
            "permissionDenied", "userInsufficientPermission", "projectNotLinked",
            "insufficientPermissions",
        ]
        private static let known =
            quota + permission + [
                "authError", "invalid", "invalidValue", "required",
                "purchaseTokenDoesNotMatchPackageName", "purchaseTokenMismatch",
                "subscriptionExpired", "subscriptionInvalidArgument", "applicationNotFound",
                "purchaseTokenNotFound", "notFound", "invalidPurchaseState",
                "productNotOwnedByUser", "subscriptionNotOwnedByUser", "PERMISSION_DENIED",
                "UNAUTHENTICATED",
                "INVALID_ARGUMENT", "NOT_FOUND",
            ]
    }
}
