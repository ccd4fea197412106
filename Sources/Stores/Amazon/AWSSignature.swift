import Crypto
import Curl
import Renewal

/// What a user of AWS signs requests with.
package struct AWSCredentials: Sendable {
    let accessKeyID: String
    let secretAccessKey: Secret
    /// Such as `eu-west-1`.
    let region: String

    package init(accessKeyID: String, secretAccessKey: Secret, region: String) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.region = region
    }
}

/// Signature version 4 of AWS: the signature covers the method, the path, the query, the headers
/// that it names and the body. It is good for five minutes.
///
/// <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>
struct AWSSignature {
    let credentials: AWSCredentials
    /// Such as `sqs`.
    let service: String

    /// The headers `X-Amz-Date` and `Authorization` for a request.
    ///
    /// - Parameters:
    ///   - request: with all its headers but `Host`; no header is there twice.
    ///   - target: where it goes. Its query is sorted and percent-encoded already.
    ///   - now: by the machine's clock.
    /// - Returns: what to add to the request.
    func headers(for request: HTTPRequest, to target: Target, at now: Timestamp) -> [HTTPHeader] {
        let date = Self.date(now)
        let dated = request.headers + [HTTPHeader("X-Amz-Date", date)]
        let signed = (dated + [HTTPHeader("Host", target.authority)])
            .map { (name: $0.name.lowercased(), value: $0.value) }.sorted { $0.name < $1.name }
        let names = signed.map(\.name).joined(separator: ";")
        let canonical = [
            request.method.rawValue, target.path, target.query,
            signed.map { "\($0.name):\($0.value)\n" }.joined(), names,
            SHA256.hash(data: request.body ?? []).hexDigits,
        ].joined(separator: "\n")

        let day = String(date.prefix(8))
        let scope = [day, credentials.region, service, "aws4_request"]
        let text = [
            "AWS4-HMAC-SHA256", date, scope.joined(separator: "/"),
            SHA256.hash(data: Array(canonical.utf8)).hexDigits,
        ].joined(separator: "\n")
        var key = SymmetricKey(data: Array(("AWS4" + credentials.secretAccessKey.text).utf8))
        for part in scope { key = SymmetricKey(data: Self.code(part, key)) }
        let authorization =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/"
            + scope.joined(separator: "/") + ", SignedHeaders=\(names), Signature="
            + Self.code(text, key).hexDigits
        return [
            HTTPHeader("X-Amz-Date", date), HTTPHeader("Authorization", authorization),
        ]
    }

    /// The parts of an address as they are signed.
    struct Target {
        /// The host, with a port that is not the scheme's own.
        let authority: String
        var path = "/"
        var query = ""
    }

    private static func code(
        _ text: String, _ key: SymmetricKey
    ) -> HashedAuthenticationCode<SHA256> {
        HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
    }

    /// Such as `20260131T235959Z`.
    private static func date(_ now: Timestamp) -> String {
        now.text.filter { $0 != "-" && $0 != ":" }
    }
}
