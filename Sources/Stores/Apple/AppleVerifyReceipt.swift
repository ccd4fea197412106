import Curl
import Renewal

/// Where receipts are verified: a whole URL, and whom to trust there.
package struct AppleReceiptEndpoint: Hashable, Sendable {
    /// Such as `https://buy.itunes.apple.com/verifyReceipt`.
    package let url: String
    /// A PEM file of the only authorities to trust; nil is the system's.
    package let certificateAuthorityFile: String?

    /// Nil when it is no `https` or `http` URL.
    package init?(url: String, certificateAuthorityFile: String? = nil) {
        guard URLText.authority(of: url) != nil else { return nil }
        self.url = url
        self.certificateAuthorityFile = certificateAuthorityFile
    }
}

/// Asks verifyReceipt, which Apple has deprecated: only about receipts that cannot be asked about
/// by a transaction id.
///
/// <https://developer.apple.com/documentation/appstorereceipts/verifyreceipt>
struct AppleVerifyReceipt: Sendable {
    let bundleID: AppID
    let secret: Secret
    let endpoints: [StoreEnvironment: AppleReceiptEndpoint]
    var transport: StoreTransport

    /// - Parameters:
    ///   - file: what was stored.
    ///   - receipt: what it says of itself, where that can be read.
    ///   - purchase: what is known.
    ///   - customer: who has it.
    ///   - now: the database's time.
    /// - Returns: a verdict, or a doubt where the store does not know it.
    /// - Throws: whatever is no verdict.
    func answer(
        about file: AppleReceiptFile, saying receipt: AppleReceipt?, _ purchase: Purchase,
        of customer: AppleCustomer, at now: Timestamp
    ) async throws(StoreFailure) -> Answer {
        let facts = purchase.facts
        var calls = Calls(verify: self, text: file.base64, now: now)
        let first = facts.environment ?? receipt?.environment ?? .production
        var environment = first
        var reply = try await calls.reply(from: first)
        if case .misdirected = reply {
            // Rule 9: what the other environment says of it is no verdict.
            guard facts.environment == nil else { throw .mismatch(what: StoreFailure.environment) }
            environment = first.other
            reply = try await calls.reply(from: environment)
        }
        switch reply {
        case .answer(let response, let hasExpired, let date):
            let reader = AppleReceiptReader(
                bundleID: bundleID, environment: environment, facts: facts, customer: customer,
                local: receipt, hasExpired: hasExpired, isSecretRefused: calls.isSecretRefused,
                checkedAt: purchase.checkedAt, mayBeAhead: purchase.mayBeAhead(at: now),
                time: AppleTime(now: now, told: date))
            return try await reader.answer(response)
        case .misdirected:
            throw .unreachable(reason: "production and sandbox each name the other")
        case .unauthentic(status: 21_004): throw Self.secretRefused
        case .unauthentic(let status): throw .rejected(reason: "status \(status)")
        case .noAccount: return .doubt(.notFound)
        case .failed(let failure): throw failure
        }
    }

    static let secretRefused = StoreFailure.refused(
        reason: "status 21004: shared_secret is not the app's")

    /// The calls of one check, of which all but the first wait for their share of the quota.
    private struct Calls {
        let verify: AppleVerifyReceipt
        let text: String
        let now: Timestamp
        var isFirst = true
        /// Status 21004: what is answered without a secret lacks what is newer than the receipt.
        var isSecretRefused = false

        init(verify: AppleVerifyReceipt, text: String, now: Timestamp) {
            self.verify = verify
            self.text = text
            self.now = now
        }

        /// Some receipts are refused with the secret that others are refused without.
        mutating func reply(
            from environment: StoreEnvironment
        ) async throws(StoreFailure) -> AppleReceiptReply {
            let reply = try await reply(from: environment, withSecret: true)
            guard case .unauthentic(let status) = reply else { return reply }
            let second = try await self.reply(from: environment, withSecret: false)
            if case .unauthentic = second { return reply }
            isSecretRefused = status == 21_004
            return second
        }

        private mutating func reply(
            from environment: StoreEnvironment, withSecret: Bool
        ) async throws(StoreFailure) -> AppleReceiptReply {
            guard let endpoint = verify.endpoints[environment] else {
                throw .unsupported(reason: "this environment is not configured")
            }
            if !isFirst { await verify.transport.beforeExtraCall() }
            isFirst = false
            let response = try await verify.transport.response(
                to: verify.request(text, to: endpoint, withSecret: withSecret),
                calling: "verifyReceipt, \(environment.rawValue)")
            return AppleReceiptReply(response, at: now)
        }
    }

    func request(
        _ text: String, to endpoint: AppleReceiptEndpoint, withSecret: Bool
    ) -> HTTPRequest {
        let body = Body(data: text, password: withSecret ? secret.text : nil)
        return HTTPRequest(
            method: .post, url: endpoint.url,
            headers: [StoreHost.accept, HTTPHeader("Content-Type", "application/json")],
            body: JSON.encode(body), deadline: StoreHost.deadline,
            bodyLimitBytes: Self.bodyLimitBytes,
            certificateAuthorityFile: endpoint.certificateAuthorityFile,
            allowsPlainHTTP: URLText.isPlain(endpoint.url))
    }

    /// Members without a value are left out: an empty password is taken for a wrong one.
    private struct Body: Encodable {
        let data: String
        let password: String?

        private enum CodingKeys: String, CodingKey {
            case data = "receipt-data"
            case password
        }
    }

    /// An answer tells of each renewal twice, with a kilobyte each.
    private static let bodyLimitBytes = 8 << 20
}
