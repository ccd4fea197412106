import Curl
import Renewal

/// An answer of SQS, sorted by status and type of error before any of its content is believed.
///
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html>
struct AmazonQueueReply {
    let body: Result<[UInt8], StoreFailure>

    /// `now` is what a point in time in `Retry-After` is measured from.
    init(_ response: HTTPResponse, at now: Timestamp) {
        let type = Self.type(response.body)
        let words = type.map { "status \(response.status), \($0)" } ?? "status \(response.status)"
        let delay = RetryAfter.delay(response.retryAfter, at: now)
        body =
            switch response.status {
            case 200: .success(response.body)
            case 429: .failure(.throttled(retryAfter: delay))
            case 400..<500 where Self.throttling.contains { $0 == type }:
                .failure(.throttled(retryAfter: delay))
            // Nothing here is about one purchase: it is the queue or who asks for it.
            case 400, 401, 403, 404: .failure(.refused(reason: words))
            default: .failure(StoreFailure(commonStatus: response.status))
            }
    }

    private struct Failed: Decodable {
        let __type: String?
    }

    /// The type of an error, when it is one of the known ones: what was sent is not repeated.
    private static func type(_ body: [UInt8]) -> String? {
        guard let sent = try? JSON.decode(Failed.self, from: body).__type else { return nil }
        // With the name of its service before it: `com.amazonaws.sqs#QueueDoesNotExist`.
        let name = sent.split(separator: "#").last.map(String.init)
        return (throttling + refusing).first { $0 == name }
    }

    private static let throttling = [
        "RequestThrottled", "ThrottlingException", "Throttling", "OverLimit", "KmsThrottled",
    ]
    private static let refusing = [
        "QueueDoesNotExist", "InvalidAddress", "InvalidSecurity", "AccessDenied",
        "AccessDeniedException", "InvalidClientTokenId", "UnrecognizedClientException",
        "SignatureDoesNotMatch", "InvalidSignatureException", "IncompleteSignature",
        "MissingAuthenticationToken", "ExpiredToken", "ExpiredTokenException", "RequestExpired",
        "OptInRequired", "KmsAccessDenied", "KmsDisabled", "KmsNotFound", "UnsupportedOperation",
        "InvalidParameterValue", "ValidationError",
    ]
}
