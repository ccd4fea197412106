/// Charge-backs that Google asks the seller about.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/orders/reviewrefund
struct GoogleRefundReviewHandler: Sendable {
    let calls: StoreCalls

    var routes: [Route] {
        [
            Route("POST", Google.path + "/orders/{order}:reviewrefund", .reviewRefund) {
                review($0)
            }
        ]
    }

    private struct Body: Decodable {
        var pendingRefundToken: String?
        var sampleContentProvided: Bool?
        var refundPreference: String?
        var consumptionPercentageMilliunits: Int?

        /// Whether it has what must be there, within its limits.
        var isValid: Bool {
            sampleContentProvided != nil
                && ["DECLINE", "APPROVE", "NEUTRAL"].contains(refundPreference)
                && (0...100_000).contains(consumptionPercentageMilliunits ?? 0)
        }
    }

    /// The first answer counts; OK is said to all.
    private func review(_ request: Request) -> Reply {
        calls.answer(
            request, of: .google,
            about: { world in world.find(order: request["order"])?.number },
            failing: { $0.failureBeforeWriting() },
            from: { world, call throws(Refusal) in
                try GoogleAccess.package(of: request, call, &world)
            },
            { world, call throws(Refusal) in
                guard let found = world.find(order: request["order"]),
                    world.purchase(found.number).app == request["package"]
                else {
                    throw Refusal(
                        Google.refusal(404, "orderNotFound", "The order was not found."))
                }
                guard let body = request.decode(Body.self), body.isValid,
                    let review = world.desk.review(of: found.number, charge: found.charge),
                    review.token == body.pendingRefundToken
                else { throw Refusal(Failures.status(400, .google)) }
                let text = String(decoding: request.body, as: UTF8.self)
                world.desk.change(review.number) {
                    $0.replies.append(
                        Review.Reply(at: call.now, body: text, isKept: $0.replies.isEmpty))
                }
                if let failure = call.failure() { throw Refusal(failure) }
                return .reply(Reply(200, .emptyObject))
            })
    }
}

extension Google {
    static func refundReview(_ purchase: Purchase, _ review: Review, at now: Instant) -> JSON {
        message(app: purchase.app, at: now) { json in
            json.object("pendingRefundReviewNotification") { json in
                json.member("version", "1.0")
                json.member("pendingRefundToken", review.token)
                json.member("orderId", order(purchase, number: review.charge))
                json.member("refundReason", review.reason.flatMap { Int($0) } ?? 7)
                json.member("obfuscatedAccountId", purchase.buyer.user)
            }
        }
    }

    /// A notification of that name, about a purchase or about nothing.
    static func announcement(_ announcement: Announcement, _ purchase: Purchase?) -> JSON {
        message(app: announcement.app, at: announcement.at) { json in
            json.object(announcement.type) { json in
                json.member("version", "1.0")
                json.member("purchaseToken", purchase?.token)
            }
        }
    }
}

extension Call {
    /// Of calls that write: a store that hangs, breaks off or fails has kept what was sent. Other
    /// faults meet the call before that.
    func failureBeforeWriting() -> Reply? {
        switch fault?.kind {
        case .hang, .reset: nil
        case .status where (fault?.status ?? 500) >= 500: nil
        default: failure()
        }
    }
}
