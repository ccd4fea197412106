import Curl
package import Renewal

extension GoogleStore {
    /// Answers Google's question about a charge-back. Google keeps the first answer and says OK to
    /// all, so what may have been taken must not be sent again.
    ///
    /// <https://developers.google.com/android-publisher/api-ref/rest/v3/orders/reviewrefund>
    package func answer(_ reply: RefundReply, at now: Timestamp) async -> RefundSending {
        guard let token = reply.question.token, !token.isEmpty else {
            return .refused(reason: "the question has no pendingRefundToken")
        }
        let path: String
        do throws(StoreFailure) {
            path = try paths.refundReview(of: reply.question.order)
        } catch {
            return .refused(reason: error.problem.sentence)
        }
        let delivery = await client.deliver(
            path, GoogleRefundReview(reply.answer, token: token), calling: "orders.reviewrefund",
            at: now)
        switch delivery {
        case .answered(let response): return RefundSending(google: response, at: now)
        case .notSent(let failure): return .notSent(failure)
        case .unknown(let failure): return .unknown(failure)
        }
    }
}

/// The body of `orders.reviewrefund`.
struct GoogleRefundReview: Encodable, Sendable {
    let pendingRefundToken: StoreToken
    let sampleContentProvided: Bool
    let refundPreference: String
    /// 0 to 100,000.
    let consumptionPercentageMilliunits: Int?

    init(_ answer: RefundAnswer, token: StoreToken) {
        pendingRefundToken = token
        sampleContentProvided = answer.hasSample
        consumptionPercentageMilliunits = answer.consumedMilliPercent
        refundPreference =
            switch answer.preference {
            // Google knows no share of a refund.
            case .grant, .prorate: "APPROVE"
            case .decline: "DECLINE"
            case .neutral: "NEUTRAL"
            }
    }
}

extension RefundSending {
    fileprivate init(google response: HTTPResponse, at now: Timestamp) {
        self =
            switch GoogleReply(response, at: now) {
            case .answer(let body):
                // A page of somebody between Google and us is no word of Google's.
                body.isEmpty || (try? JSON.decode(Presence.self, from: body)) != nil
                    ? .taken : .unknown(.malformed(field: "body"))
            case .gone: .refused(reason: "status 410")
            case .staleToken: .notSent(.refused(reason: "status 401"))
            case .failed(let failure): RefundSending(google: failure)
            }
    }

    private init(google failure: StoreFailure) {
        self =
            switch failure {
            case .unreachable: .unknown(failure)
            case .rejected(let reason): .refused(reason: reason)
            case .throttled, .refused, .malformed, .signature, .mismatch, .unsupported:
                .notSent(failure)
            }
    }
}
