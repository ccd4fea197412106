import Curl
package import Renewal

extension AppleStore {
    /// Answers Apple's question about a refund. The same may be sent again. Apple refuses a
    /// percentage for what renews by itself, and of what nobody has submitted it is not known
    /// whether it does: what is refused is sent once more without one. `now` is the database's
    /// time.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information>
    package func answer(_ reply: RefundReply, at now: Timestamp) async -> RefundSending {
        // Apple would refuse it, and nobody else may say that the customer has agreed.
        guard reply.answer.isConsented else {
            return .refused(reason: "the customer has not consented")
        }
        guard let api else { return .notSent(Self.needsKey) }
        var consumption = AppleConsumption(reply.answer)
        let sending = await send(consumption, about: reply.question, by: api, at: now)
        guard case .refused = sending, consumption.consumptionPercentage != nil else {
            return sending
        }
        consumption.consumptionPercentage = nil
        return await send(consumption, about: reply.question, by: api, at: now)
    }

    private func send(
        _ consumption: AppleConsumption, about question: RefundQuestion, by api: AppleAPI,
        at now: Timestamp
    ) async -> RefundSending {
        let request: AppleRequest
        do throws(StoreFailure) {
            request = try .consumption(of: question.order, consumption)
        } catch {
            return .refused(reason: error.problem.sentence)
        }
        let calls = AppleCalls(api, at: now, isFirst: false)
        switch await calls.deliver(request, to: question.environment) {
        case .answered(let response): return RefundSending(apple: response, at: now)
        case .notSent(let failure): return .notSent(failure)
        case .unknown(let failure): return .unknown(failure)
        }
    }
}

/// <https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest>
struct AppleConsumption: Encodable, Hashable, Sendable {
    let customerConsented: Bool
    let deliveryStatus: String
    let sampleContentProvided: Bool
    var consumptionPercentage: Int?
    let refundPreference: String?

    init(_ answer: RefundAnswer) {
        customerConsented = answer.isConsented
        deliveryStatus = answer.isDelivered ? "DELIVERED" : "UNDELIVERED_OTHER"
        sampleContentProvided = answer.hasSample
        // Of what never arrived nothing can have been used: Apple takes 0 and no other number.
        let consumed = answer.consumedMilliPercent.map { answer.isDelivered ? $0 : 0 }
        consumptionPercentage = consumed
        refundPreference =
            switch (answer.preference, consumed) {
            case (.grant, _): "GRANT_FULL"
            case (.decline, _): "DECLINE"
            case (.neutral, _): nil
            // Apple takes a share only between nothing and all. These say the same.
            case (.prorate, .some(...0)): "GRANT_FULL"
            case (.prorate, .some(100_000...)): "DECLINE"
            case (.prorate, _): "GRANT_PRORATED"
            }
    }
}

extension RefundSending {
    /// <https://developer.apple.com/documentation/appstoreserverapi/error-codes>
    fileprivate init(apple response: HTTPResponse, at now: Timestamp) {
        self =
            switch response.status {
            case 202: .taken
            // Somebody between Apple and us has answered.
            case 200..<300: .unknown(.malformed(field: "status \(response.status)"))
            case 400: RefundSending(code: AppleReply.errorCode(response))
            default:
                switch AppleReply(response, at: now) {
                case .answer, .invalidIdentifier:
                    .notSent(.malformed(field: "status \(response.status)"))
                case .notFound: .notSent(.rejected(reason: "status \(response.status)"))
                case .unauthorized: .notSent(.refused(reason: "status 401"))
                case .failed(let failure) where response.status == 408 || response.status >= 500:
                    .unknown(failure)
                case .failed(let failure): .notSent(failure)
                }
            }
    }

    /// A request that Apple takes for wrong stays wrong, whatever the code. Only the app's own
    /// identifier can be put right meanwhile.
    private init(code: Int64?) {
        self =
            switch code {
            case 4_000_002: .notSent(.refused(reason: "errorCode 4000002"))
            case let code?: .refused(reason: "errorCode \(code)")
            // Not Apple's own words.
            case nil: .notSent(.malformed(field: "status 400 without an errorCode"))
            }
    }
}
