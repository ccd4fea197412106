import Crypto
import CryptoExtras
import Curl
import Foundation
import Renewal
import Stores
import TestSupport

/// Google Play: subscriptions and products of either version, and the orders behind them.
struct GoogleScene: StoreScene {
    private static let key = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    let wire = Wire()
    let store: GoogleStore

    init(_ options: Words) throws {
        store = try GoogleStore(
            credentials: Self.credentials(), host: Self.host(), transport: wire.transport,
            api: options.has("v1") ? .v1 : .v2, kindOf: Shop.kind)
    }

    static func host() throws -> StoreHost {
        guard let host = StoreHost(baseURL: "https://play.example") else {
            throw UnreadableCell(cell: "host")
        }
        return host
    }

    static func credentials() throws -> GoogleCredentials {
        let pem = try key.get().pemRepresentation.replacing("\n", with: "\\n")
        let file = """
            {"type":"service_account","project_id":"reader","private_key_id":"kid7",
            "private_key":"\(pem)","client_email":"a@b.example",
            "token_uri":"https://tokens.example/token"}
            """
        return GoogleCredentials(
            packageName: Shop.bundle, account: try GoogleServiceAccount(json: Secret(file)))
    }

    func ask(
        _ purchase: Purchase, at now: Timestamp, in session: CallSession
    ) async -> Answer {
        await store.within(session).ask(purchase, at: now)
    }

    func prepare(_ cell: String, at day: Timestamp) throws {
        // Version 1's answer, and that of version 2 where that is asked too.
        let cells = cell.components(separatedBy: " / ")
        let result = try Self.result(cells[0])
        let second = try cells.count > 1 ? Self.result(cells[1]) : result
        let proof = Words(cell)["proof"]
        let orders = Words(cell)
        wire.answer(at: day) { request throws(CurlError) in
            if request.url.hasPrefix("https://tokens.example") { return .json(Self.accessToken) }
            if request.url.contains("orders:batchGet") {
                return try Self.orders(of: request.url, as: orders).get()
            }
            guard request.url.contains("/orders/") else {
                return try (request.url.contains("subscriptionsv2") ? second : result).get()
            }
            guard let proof, let id = request.url.split(separator: "/").last else {
                return .json(Self.errorBody(404, nil), status: 404)
            }
            return .json(
                #"{"orderId":"\#(id)","purchaseToken":"token-\#(proof)","#
                    + #""state":"\#(orders["orders"] ?? "PROCESSED")"}"#)
        }
    }

    /// What order management says of the orders in the query: all in the state `orders=`, of the
    /// product `sold=`, and of each so much given back: `part=2` of 8 euros, `part=-` where that is
    /// not shown.
    private static func orders(
        of url: String, as words: Words
    ) -> Result<HTTPResponse, CurlError> {
        guard let state = words["orders"] else {
            return .success(.json(errorBody(404, nil), status: 404))
        }
        let sold = words["sold"].map { #","lineItems":[{"productId":"\#($0)"}]"# } ?? ""
        let ids = url.split(separator: "?").last?.split(separator: "&") ?? []
        let orders = ids.map { id in
            #"{"orderId":"\#(id.dropFirst("orderIds=".count))","purchaseToken":"token-A","#
                + #""state":"\#(state)","total":{"currencyCode":"EUR","units":"8"}"#
                + sold + (words["part"].map(Self.history) ?? "") + "}"
        }
        return .success(.json(#"{"orders":[\#(orders.joined(separator: ","))]}"#))
    }

    private static func history(_ part: String) -> String {
        let amount =
            part == "-"
            ? "7" : #"{"total":{"currencyCode":"EUR","units":"\#(part)"}}"#
        return #","orderHistory":{"partialRefundEvents":[{"state":"PROCESSED_SUCCESSFULLY","#
            + #""refundDetails":\#(amount)}]}"#
    }

    /// Orders are not found.
    func prepare(body: [UInt8], at day: Timestamp) {
        wire.answer(at: day) { request throws(CurlError) in
            if request.url.hasPrefix("https://tokens.example") { return .json(Self.accessToken) }
            guard !request.url.contains("/orders/") else {
                return .json(Self.errorBody(404, nil), status: 404)
            }
            return .json(body)
        }
    }

    static let accessToken =
        #"{"access_token":"ya29.7","expires_in":3599,"token_type":"Bearer"}"#

    static func result(_ cell: String) throws -> Result<HTTPResponse, CurlError> {
        let words = Words(cell)
        let trouble = try Trouble(words, insteadOf: try body("ACTIVE 30"), body: errorBody)
        return try trouble?.result ?? .success(.json(try body(cell)))
    }

    private static func errorBody(_ status: Int, _ named: String?) -> String {
        let (reason, word) =
            switch status {
            case 400: ("invalid", "INVALID_ARGUMENT")
            case 401: ("authError", "UNAUTHENTICATED")
            case 403: ("permissionDenied", "PERMISSION_DENIED")
            case 404: ("purchaseTokenNotFound", "NOT_FOUND")
            case 409: ("concurrentUpdate", "ABORTED")
            case 410: ("purchaseTokenNoLongerValid", "FAILED_PRECONDITION")
            case 429: ("rateLimitExceeded", "RESOURCE_EXHAUSTED")
            default: ("backendError", "UNAVAILABLE")
            }
        return """
            {"error":{"code":\(status),"message":"It did not work.","status":"\(word)",
            "errors":[{"domain":"androidpublisher","reason":"\(named ?? reason)"}]}}
            """
    }

    /// The full body of an answer.
    static func body(_ cell: String) throws -> String {
        switch Words(cell).plain.first {
        case "v1": try GoogleLegacyWire.body(cell)
        case "product": try GoogleProductWire.body(cell)
        default: try GoogleWire.body(cell)
        }
    }

    /// `1` is the order of the sign-up, `1..0` of its first renewal.
    static func order(_ text: String) -> String {
        let parts = text.split(separator: ".", maxSplits: 1)
        let base = "GPA.3301-7742-9958-0000\(parts.first ?? "")"
        return parts.count > 1 ? base + "." + parts[1] : base
    }

    /// What follows the first words.
    static func day(_ words: Words) throws -> Timestamp? {
        try words.plain.first { $0.first?.isNumber == true }.map { try TestCalendar.time($0) }
    }
}

/// `purchases.subscriptionsv2.get`: the state, the end of the main item, then what is unusual:
/// `ACTIVE 30 order=1..0 off`. More items follow a plus sign: `+ gold 60 order=2`; the first item
/// is of the product `plus` unless named by `product=`. `owed=5` are instalments that are still to
/// be paid of twelve, `renounced` that the plan is cancelled for then.
enum GoogleWire {
    static func body(_ cell: String) throws -> String {
        let parts = cell.split(separator: " + ").map { String($0) }
        let words = Words(parts[0])
        guard let state = words.plain.first else { throw UnreadableCell(cell: cell) }
        var json = JSONText()
        json["kind"] = "androidpublisher#" + (words["kind"] ?? "subscriptionPurchaseV2")
        json["regionCode"] = "DE"
        json["etag"] = "0123456789abcdef0123456789abcdef"
        json["subscriptionState"] = "SUBSCRIPTION_STATE_" + state
        if !state.hasPrefix("PENDING") {
            json["startTime"] = (try words.time("start") ?? TestCalendar.start).rfc3339
        }
        json["acknowledgementState"] =
            "ACKNOWLEDGEMENT_STATE_" + (words.has("unacknowledged") ? "PENDING" : "ACKNOWLEDGED")
        json["latestOrderId"] = words["latest"].map(GoogleScene.order)
        json["linkedPurchaseToken"] = words["after"].map { "token-\($0)" }
        if let token = words["again_after"] {
            json["outOfAppPurchaseContext"] = ["expiredPurchaseToken": "token-\(token)"]
        }
        if let at = try words.time("resumes") {
            json["pausedStateContext"] = ["autoResumeTime": at.rfc3339]
        }
        if let who = words["by"] {
            var context: [String: Any] = [:]
            if who == "user" { context["cancelTime"] = TestCalendar.start.rfc3339 }
            if let reason = words["survey"] {
                var survey: [String: Any] = ["reason": "CANCEL_SURVEY_REASON_" + reason]
                survey["reasonUserInput"] = words["comment"]
                context["cancelSurveyResult"] = survey
            }
            json["canceledStateContext"] = [
                who == "replacement" ? "replacementCancellation" : who + "InitiatedCancellation":
                    context
            ]
        }
        if let profile = words["profile"] {
            json["externalAccountIdentifiers"] = ["obfuscatedExternalProfileId": profile]
        }
        if words.has("odd") {
            for name in ["regionCode", "externalAccountIdentifiers", "canceledStateContext"] {
                json[name] = json[name].map { _ in ["a": [1]] }
            }
        }
        if let order = words["pending"] {
            let name = state == "ON_HOLD" ? "onHoldStateContext" : "inGracePeriodStateContext"
            json[name] = ["renewalDeclined": ["pendingOrderId": GoogleScene.order(order)]]
        }
        if words.has("test") { json["testPurchase"] = [String: String]() }
        let isOver = state == "CANCELED" || state == "EXPIRED"
        var items = [try item(words, product: words["product"] ?? "plus", renews: !isOver)]
        for part in parts.dropFirst() {
            let words = Words(part)
            items.append(
                try item(words, product: words.plain.first ?? "", renews: !isOver))
        }
        if !words.has("no_items") { json["lineItems"] = items }
        if let name = words["without"] { json[name] = nil }
        return try json.text
    }

    private static let itemWords: Set<String> = [
        "off", "prepaid", "trial", "intro", "offer", "removal", "promo", "renounced", "odd",
    ]

    private static func item(
        _ words: Words, product: String, renews: Bool
    ) throws -> [String: Any] {
        let expires = try GoogleScene.day(words)
        try words.require(
            plain: itemWords.union(words.plain.filter { $0.first?.isNumber == true })
                .union([words.plain.first ?? "", "test", "unacknowledged", "no_items"]),
            keys: [
                "product", "order", "latest", "pending", "after", "again_after", "by", "resumes",
                "start", "replacement", "price", "step_up", "proof", "without", "orders", "kind",
                "owed", "part", "tags", "survey", "comment", "replaced", "profile", "sold",
            ])
        var item = JSONText()
        item["productId"] = product
        item["expiryTime"] = expires?.rfc3339
        let order = words["order"] ?? (expires == nil ? "-" : "1")
        item["latestSuccessfulOrderId"] = order == "-" ? nil : GoogleScene.order(order)
        item["offerDetails"] =
            words.has("offer") || words.has("trial") || words.has("intro")
            ? ["basePlanId": "p1m", "offerId": "start"] : ["basePlanId": "p1m"]
        if let tags = words["tags"] {
            item["offerDetails"] = [
                "basePlanId": "p1m", "offerTags": tags.split(separator: ",").map { String($0) },
            ]
        }
        if let old = words["replaced"] {
            item["itemReplacement"] = [
                "productId": old, "basePlanId": "p1y", "replacementMode": "CHARGE_FULL_PRICE",
            ]
        }
        if words.has("trial") { item["offerPhase"] = ["freeTrial": [String: String]()] }
        if words.has("intro") { item["offerPhase"] = ["introductoryPrice": [String: String]()] }
        if words.has("offer") { item["offerPhase"] = ["basePrice": [String: String]()] }
        if words.has("promo") { item["signupPromotion"] = ["oneTimeCode": [String: String]()] }
        if words.has("removal") { item["deferredItemRemoval"] = [String: String]() }
        if let next = words["replacement"] {
            item["deferredItemReplacement"] = ["productId": next]
        }
        if words.has("prepaid") {
            item["prepaidPlan"] = ["allowExtendAfterTime": TestCalendar.start.rfc3339]
        } else {
            item["autoRenewingPlan"] = plan(words, renews: renews && !words.has("off"))
        }
        if words.has("odd") {
            item["offerDetails"] = 7
            item["itemReplacement"] = ["productId"]
        }
        return item.members
    }

    private static func plan(_ words: Words, renews: Bool) -> [String: Any] {
        var plan: [String: Any] = [
            "recurringPrice": ["currencyCode": "EUR", "units": "7", "nanos": 990_000_000]
        ]
        if words.has("odd") { plan["recurringPrice"] = ["currencyCode": 7, "units": "x"] }
        if renews { plan["autoRenewEnabled"] = true }
        if let state = words["price"] {
            plan["priceChangeDetails"] = [
                "priceChangeMode": "PRICE_INCREASE", "priceChangeState": state,
            ]
        }
        if let state = words["step_up"] { plan["priceStepUpConsentDetails"] = ["state": state] }
        if let owed = words["owed"] {
            var details: [String: Any] = ["initialCommittedPaymentsCount": 12]
            if owed != "0" { details["remainingCommittedPaymentsCount"] = Int(owed) ?? owed }
            if words.has("renounced") { details["pendingCancellation"] = [String: String]() }
            plan["installmentDetails"] = details
        }
        return plan
    }
}

/// `purchases.subscriptions.get`: `v1 30 renews pay=1`, `v1 30 cancel=0`.
enum GoogleLegacyWire {
    static func body(_ cell: String) throws -> String {
        let words = Words(cell)
        try words.require(
            plain: Set(words.plain.filter { $0.first?.isNumber == true })
                .union(["v1", "renews", "unacknowledged", "intro", "quoted", "odd"]),
            keys: [
                "survey", "comment", "part", "pay", "cancel", "order", "after", "resumes", "type",
                "price", "start", "proof",
                "orders", "kind",
            ])
        var json = JSONText()
        json["kind"] = "androidpublisher#" + (words["kind"] ?? "subscriptionPurchase")
        json["priceCurrencyCode"] = "EUR"
        json["priceAmountMicros"] = "7990000"
        json["countryCode"] = "DE"
        json["developerPayload"] = ""
        json["startTimeMillis"] = text(try words.time("start") ?? TestCalendar.start)
        json["expiryTimeMillis"] = try GoogleScene.day(words).map(text)
        json["autoResumeTimeMillis"] = try words.time("resumes").map(text)
        json["autoRenewing"] = words.has("renews")
        json["paymentState"] = words["pay"].flatMap { Int($0) }
        json["cancelReason"] = words["cancel"].flatMap { Int($0) }
        if words["cancel"] == "0" { json["userCancellationTimeMillis"] = text(TestCalendar.start) }
        if let reason = words["survey"].flatMap({ Int($0) }) {
            var survey: [String: Any] = ["cancelSurveyReason": reason]
            survey["userInputCancelReason"] = words["comment"]
            json["cancelSurveyResult"] = survey
        }
        if words.has("odd") {
            for name in ["countryCode", "priceAmountMicros", "cancelSurveyResult"] {
                json[name] = ["a": [1]]
            }
        }
        json["orderId"] =
            words["order"] == "-" ? nil : GoogleScene.order(words["order"] ?? "1")
        json["linkedPurchaseToken"] = words["after"].map { "token-\($0)" }
        json["purchaseType"] = words["type"].flatMap { Int($0) }
        json["acknowledgementState"] = words.has("unacknowledged") ? 0 : 1
        if let state = words["price"].flatMap({ Int($0) }) {
            json["priceChange"] = [
                "newPrice": ["currency": "EUR", "priceMicros": "9990000"], "state": state,
            ]
        }
        if words.has("intro") { json["introductoryPriceInfo"] = ["introductoryPriceCycles": 1] }
        if words.has("quoted") {
            json["autoRenewing"] = "\(words.has("renews"))"
            for name in ["paymentState", "cancelReason", "purchaseType"] {
                if let number = json[name] { json[name] = "\(number)" }
            }
            json["expiryTimeMillis"] = try GoogleScene.day(words).map(\.milliseconds)
        }
        return try json.text
    }

    private static func text(_ day: Timestamp) -> String { String(day.milliseconds) }
}
