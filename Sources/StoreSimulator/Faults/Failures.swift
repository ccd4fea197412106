/// The stores' own bodies for what goes wrong.
enum Failures {
    static func status(_ status: Int, _ store: StoreName) -> Reply {
        switch (store, status) {
        case (_, 401): unauthorized(store)
        case (_, 404): notFound(store)
        case (_, 410): gone(store)
        case (.apple, 500...):
            Reply(
                status,
                Apple.failure(5_000_001, "An unknown error occurred. Please try again."))
        case (.apple, _): Reply(status, Apple.failure(Int64(status) * 10_000, "Bad request."))
        case (.google, 500...):
            Google.refusal(status, "backendError", "Backend Error", domain: "global")
        case (.google, _):
            Google.refusal(status, "invalid", "Invalid Value", domain: "global")
        case (.amazon, 496): Reply(status, Amazon.failure("Invalid developerSecret"))
        case (.amazon, 497): Reply(status, Amazon.failure("Purchase token/app user mismatch"))
        case (.amazon, 400): Reply(status, Amazon.failure("Failed to parse receipt Id"))
        case (.amazon, _): Reply(status, Amazon.failure("Internal error"))
        }
    }

    static func notFound(_ store: StoreName) -> Reply {
        switch store {
        case .apple: Reply(404, Apple.failure(4_040_010, "Transaction id not found."))
        case .google:
            Google.refusal(
                404, "purchaseTokenNotFound", "The purchase token was not found.",
                domain: "global", location: "token")
        case .amazon: Reply(400, Amazon.failure("Failed to parse receipt Id"))
        }
    }

    static func gone(_ store: StoreName) -> Reply {
        switch store {
        case .apple: Reply(404, Apple.failure(4_040_001, "Account not found."))
        case .google:
            Google.refusal(
                410, "subscriptionPurchaseNoLongerAvailable",
                "The subscription purchase is no longer available for query because it has "
                    + "been expired for too long.")
        case .amazon: Reply(410, Amazon.failure("Transaction is no longer valid"))
        }
    }

    static func unauthorized(_ store: StoreName) -> Reply {
        switch store {
        case .apple: Reply(401, text: "Unauthenticated\n")
        case .google:
            Google.refusal(
                401, "authError", "Invalid Credentials", domain: "global",
                status: "UNAUTHENTICATED")
        case .amazon: Reply(496, Amazon.failure("Invalid developerSecret"))
        }
    }

    /// Apple says when to come back in milliseconds since 1970, the others in seconds from now.
    static func throttled(_ store: StoreName, _ fault: Fault, now: Instant) -> Reply {
        let seconds = fault.retryAfterSeconds
        var reply: Reply
        var wait = seconds.map { String($0) }
        switch store {
        case .apple:
            reply = Reply(429, Apple.failure(4_290_000, "Rate limit exceeded."))
            wait = String((now + (seconds ?? 30) * 1000).milliseconds)
        case .google:
            let message = "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute'"
            reply = Google.refusal(
                429, "rateLimitExceeded", message, domain: "usageLimits",
                status: "RESOURCE_EXHAUSTED")
        case .amazon: reply = Reply(429, Amazon.failure("Too many requests"))
        }
        if let wait = fault.retryAfterText ?? wait { reply.headers = [("retry-after", wait)] }
        return reply
    }

    /// Apple meters by the hour, Google by the day and with another status than by the minute.
    /// Neither Google nor Amazon says when to come back.
    static func quotaExhausted(_ store: StoreName, now: Instant) -> Reply {
        switch store {
        case .apple:
            var reply = Reply(429, Apple.failure(4_290_000, "Rate limit exceeded."))
            let hours = Instant.floorDivide(now.milliseconds, Instant.hour) + 1
            reply.headers = [("retry-after", String(hours * Instant.hour))]
            return reply
        case .google:
            let message = "Quota exceeded for quota metric 'Queries' and limit 'Queries per day'"
            return Google.refusal(
                403, "rateLimitExceeded", message, domain: "usageLimits",
                status: "PERMISSION_DENIED")
        case .amazon: return Reply(429, Amazon.failure("Too many requests"))
        }
    }

    /// `verifyReceipt` says with status 200 and one number what went wrong.
    static func receipt(status: Int) -> Reply {
        Reply(
            200,
            .object(capacity: 60) { json in
                json.member("environment", "Production")
                json.member("status", status)
            })
    }
}
