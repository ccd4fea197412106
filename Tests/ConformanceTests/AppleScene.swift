import Crypto
import Curl
import Renewal
import StoreFixtures
import Stores
import TestSupport

/// The App Store: the App Store Server API of both environments and verifyReceipt.
///
/// A cell holds one reply or, between slashes, several: `1:30` is what Get All Subscription
/// Statuses says, `info …`, `history …` and `refunds …` what the other endpoints say, and
/// `verify …` what verifyReceipt does. The word `sandbox` puts a reply on the sandbox's host. What
/// is not named is not found there.
struct AppleScene: StoreScene {
    private static let key = P256.Signing.PrivateKey()

    let wire = Wire()
    let store: AppleStore

    init(_ options: Words) throws {
        guard let production = StoreHost(baseURL: "https://apple.example"),
            let sandbox = StoreHost(baseURL: "https://sandbox.example"),
            let receipts = AppleReceiptEndpoint(url: "https://buy.example/verifyReceipt"),
            let tests = AppleReceiptEndpoint(url: "https://test.example/verifyReceipt")
        else { throw UnreadableCell(cell: "host") }
        let key = AppleAPIKey(
            issuerID: "3f0b-issuer", keyID: "7KQ2M4X9TB",
            privateKeyPEM: Secret(Self.key.pemRepresentation))
        store = try AppleStore(
            credentials: AppleCredentials(
                bundleID: Shop.bundle, apiKey: options.has("no_key") ? nil : key,
                sharedSecret: options.has("no_secret") ? nil : Secret("0123456789abcdef")),
            production: production, sandbox: sandbox,
            receipts: [.production: receipts, .sandbox: tests],
            verifier: AppleVerifier(roots: [AppleAuthority.trusted.get().root]),
            readsOffers: options.has("offers"), transport: wire.transport)
    }

    func ask(
        _ purchase: Purchase, at now: Timestamp, in session: CallSession
    ) async -> Answer {
        await store.within(session).ask(purchase, at: now)
    }

    func prepare(_ cell: String, at day: Timestamp) throws {
        var replies: [String: Result<HTTPResponse, CurlError>] = [:]
        for text in cell.split(separator: " / ") {
            let reply = try AppleWire(String(text), at: day)
            replies[reply.place] = reply.result
        }
        let table = replies
        wire.answer(at: day) { request throws(CurlError) in
            let place = AppleWire.place(of: request.url)
            if let reply = table[place] { return try reply.get() }
            switch place {
            case "verify": return .json(#"{"status":21007}"#)
            case "verify sandbox": return .json(#"{"status":21008}"#)
            default: return .json(AppleWire.error("4040010"), status: 404)
            }
        }
    }

    func prepare(body: [UInt8], at day: Timestamp) {
        wire.answer(at: day) { _ throws(CurlError) in .json(body) }
    }
}

/// One reply of one endpoint.
struct AppleWire {
    /// Such as `statuses` or `info sandbox`.
    let place: String
    let result: Result<HTTPResponse, CurlError>

    private static let endpoints = ["info", "history", "refunds", "verify"]

    init(_ text: String, at day: Timestamp) throws {
        var words = text.split(separator: " ").map { String($0) }
        let endpoint = words.first.flatMap { Self.endpoints.contains($0) ? $0 : nil }
        if endpoint != nil { words.removeFirst() }
        let isSandbox = words.first == "sandbox"
        if isSandbox { words.removeFirst() }
        place = (endpoint ?? "statuses") + (isSandbox ? " sandbox" : "")
        let rest = words.joined(separator: " ")
        let environment = isSandbox ? "Sandbox" : "Production"
        if endpoint == "verify" {
            result = try AppleReceiptWire.result(rest, in: environment, at: day)
            return
        }
        let name = endpoint ?? "statuses"
        let trouble = try Trouble(
            Words(rest), insteadOf: try Self.body(name, "1:30", environment, day)
        ) { _, _ in "" }
        if let trouble {
            result = trouble.result
        } else if rest.count == 7, let code = Int(rest) {
            result = .success(.json(Self.error(rest), status: code / 10_000))
        } else {
            result = .success(.json(try Self.body(name, rest, environment, day)))
        }
    }

    static func place(of url: String) -> String {
        let isSandbox =
            url.hasPrefix("https://sandbox.example") || url.hasPrefix("https://test.example")
        let endpoint =
            if url.contains("verifyReceipt") { "verify" } else if url.contains("/transactions/") {
                "info"
            } else if url.contains("/history/") { "history" } else if url.contains("/refund/") {
                "refunds"
            } else { "statuses" }
        return endpoint + (isSandbox ? " sandbox" : "")
    }

    static func error(_ code: String) -> String {
        #"{"errorCode":\#(code),"errorMessage":"It did not work."}"#
    }

    /// The full body of an answer, really signed.
    static func body(
        _ endpoint: String, _ text: String, _ environment: String, _ day: Timestamp
    ) throws -> String {
        let entries =
            try text == "none"
            ? []
            : text.split(separator: " + ").map {
                try AppleEntry(String($0), in: environment, at: day)
            }
        var json = JSONText()
        switch endpoint {
        case "info":
            guard let first = entries.first else { throw UnreadableCell(cell: text) }
            json["signedTransactionInfo"] = try first.signedTransaction()
        case "history", "refunds":
            json["revision"] = "1767225600000_420001010101001"
            json["hasMore"] = false
            json["signedTransactions"] = try entries.map { try $0.signedTransaction() }
            json["bundleId"] = endpoint == "history" ? Shop.bundle.text : nil
            json["environment"] = endpoint == "history" ? environment : nil
        default:
            json["environment"] = entries.first?.words["environment"] ?? environment
            json["appAppleId"] = 1_599_012_345
            json["bundleId"] = entries.first?.words["app"] ?? Shop.bundle.text
            let groups = Dictionary(grouping: entries, by: \.group)
            json["data"] = try groups.sorted { $0.key < $1.key }.map { group, entries in
                [
                    "subscriptionGroupIdentifier": group,
                    "lastTransactions": try entries.map { try $0.json().members },
                ] as [String: Any]
            }
        }
        return try json.text
    }
}

/// One subscription or transaction of an answer: `1:30` is status 1 with `expiresDate` on day 30;
/// `lifetime` and the like are one-time products.
struct AppleEntry {
    let words: Words
    private let status: Int?
    private let expires: Timestamp?
    private let environment: String
    private let day: Timestamp

    init(_ text: String, in environment: String, at day: Timestamp) throws {
        words = Words(text)
        self.day = day
        self.environment = environment
        guard let first = words.plain.first else { throw UnreadableCell(cell: text) }
        let halves = first.split(separator: ":")
        if halves.count == 2 {
            status = Int(halves[0])
            expires = try TestCalendar.time(halves[1])
        } else {
            (status, expires) = (nil, nil)
        }
        try words.require(
            plain: Set([first]).union([
                "off", "upgraded", "family", "trial", "intro", "promotional", "retry", "forged",
                "altered", "no_renewal", "winback", "no_app", "promo_trial", "seat", "assigned",
                "oddly", "renounced", "at_once", "no_commitment", "strangely",
            ]).union(AppleSigning.faults.keys),
            keys: [
                "product", "original", "tx", "line", "revoked", "reason", "grace", "intent", "next",
                "price", "group", "signed", "app", "environment", "bought", "began", "share",
                "type", "owner", "how",
                "entry", "account", "renewal", "seats", "back", "items", "was", "month",
                "committed", "offer", "discount",
            ])
    }

    var group: String { words["group"] ?? "21000001" }

    private var product: String {
        if let named = words["product"] { return named }
        return expires == nil ? words.plain.first ?? "plus" : "plus"
    }

    private var original: String { "42000101010100" + (words["original"] ?? "1") }

    /// When a period was bought that lasts a month, or is seen at once.
    private var usualStart: Timestamp {
        max(TestCalendar.start, min(expires.map { $0 - .days(30) } ?? day, day))
    }

    private var transactionID: String {
        let day = expires.map { ($0 - TestCalendar.start).components.seconds / 60 } ?? 0
        return words["tx"].map { "42000101010100" + $0 }
            ?? (expires == nil ? original : String(420_009_900_000_000 + day))
    }

    func json() throws -> JSONText {
        var json = JSONText()
        json["originalTransactionId"] =
            words["entry"].map { "42000101010100" + $0 } ?? original
        json["status"] = status
        json["signedTransactionInfo"] = try signedTransaction()
        if !words.has("no_renewal") { json["signedRenewalInfo"] = try signedRenewal() }
        return json
    }

    func signedTransaction() throws -> String {
        var json = JSONText()
        json["transactionId"] = transactionID
        json["originalTransactionId"] = original
        json["bundleId"] = words.has("no_app") ? nil : words["app"] ?? Shop.bundle.text
        json["productId"] = product
        json["type"] = words["type"]?.replacing("_", with: " ") ?? type
        json["inAppOwnershipType"] = words["owner"] ?? ownership
        json["environment"] = words["environment"] ?? environment
        json["storefront"] = "DEU"
        json["quantity"] = words["seats"].flatMap { Int($0) } ?? 1
        extend(&json)
        json["purchaseDate"] =
            (try words.time("began") ?? words.time("bought") ?? usualStart).milliseconds
        json["originalPurchaseDate"] =
            (try words.time("bought") ?? TestCalendar.start).milliseconds
        json["signedDate"] = try signedDate.milliseconds
        if let expires {
            json["subscriptionGroupIdentifier"] = group
            json["expiresDate"] = expires.milliseconds
            json["webOrderLineItemId"] = words["line"] ?? "9" + transactionID
        }
        if words.has("upgraded") { json["isUpgraded"] = true }
        if let revoked = try words.time("revoked") {
            json["revocationDate"] = revoked.milliseconds
            json["revocationReason"] = words["reason"].flatMap { Int($0) } ?? 0
            json["revocationType"] =
                words["how"] ?? (words.has("family") ? "FAMILY_REVOKE" : "REFUND_FULL")
            json["revocationPercentage"] = words["share"].flatMap { Int($0) } ?? 100_000
        }
        if words.has("trial") || words.has("intro") {
            json["offerType"] = 1
            json["offerDiscountType"] = words.has("trial") ? "FREE_TRIAL" : "PAY_AS_YOU_GO"
        }
        if words.has("promo_trial") {
            json["offerType"] = 2
            json["offerDiscountType"] = "FREE_TRIAL"
        }
        json["appAccountToken"] = words["account"]
        if let offer = words["offer"] {
            json["offerType"] = Int(offer)
            json["offerDiscountType"] = words["discount"]
            json["offerIdentifier"] = "autumn"
        }
        if words.has("promotional") { json["offerType"] = 2 }
        if words.has("winback") { json["offerType"] = 4 }
        return try sign(json)
    }

    private var ownership: String {
        if words.has("family") { return "FAMILY_SHARED" }
        return words.has("assigned") ? "ASSIGNED" : "PURCHASED"
    }

    /// What was added in 2026; `oddly` in another shape than it was announced in.
    private func extend(_ json: inout JSONText) {
        if words.has("seat") { json["additionalTransactionReason"] = "SEAT_ADDITION" }
        if words["seats"] != nil && words["back"] != "-" || words.has("seat") {
            json["multiSeatInfo"] = ["revokedSeatQuantity": words["back"].flatMap { Int($0) } ?? 0]
        }
        if words.has("oddly") {
            json["multiSeatInfo"] = "several"
            json["advancedCommerceInfo"] = ["items": "none"]
            json["additionalTransactionReason"] = 7
        }
        if let items = words["items"] {
            json["advancedCommerceInfo"] = [
                "items": items.split(separator: ",").map { item -> [String: Any] in
                    guard item.hasSuffix("!") else { return ["SKU": String(item)] }
                    return [
                        "SKU": String(item.dropLast()), "revocationDate": day.milliseconds,
                        "revocationReason": 0,
                    ]
                }
            ]
        }
        commit(&json)
        json["previousOriginalTransactionId"] = words["was"].map { "42000101010100" + $0 }
    }

    /// A commitment of twelve months: `month=3 committed=360`; `renounced` is cancelled for its
    /// end, `no_commitment` where the renewal says nothing of it, `strangely` in another shape.
    private func commit(_ json: inout JSONText) {
        if words.has("at_once") { json["billingPlanType"] = "BILLED_UPFRONT" }
        guard let month = words["month"].flatMap({ Int($0) }) else { return }
        json["billingPlanType"] = "MONTHLY"
        var info: [String: Any] = [
            "billingPeriodNumber": month, "totalBillingPeriods": 12, "commitmentPrice": 95_880,
        ]
        info["commitmentExpiresDate"] = (try? words.time("committed"))?.milliseconds
        json["commitmentInfo"] = info
        if words.has("strangely") {
            json["billingPlanType"] = 12
            json["commitmentInfo"] = ["monthly"]
        }
    }

    private func commitRenewal(_ json: inout JSONText) {
        guard words["month"] != nil, !words.has("no_commitment") else { return }
        json["renewalBillingPlanType"] = "MONTHLY"
        var info: [String: Any] = [
            "commitmentAutoRenewProductId": product,
            "commitmentAutoRenewStatus": words.has("renounced") ? 0 : 1,
            "commitmentRenewalBillingPlanType": "MONTHLY", "commitmentRenewalPrice": 95_880,
        ]
        info["commitmentRenewalDate"] = (try? words.time("committed"))?.milliseconds
        json["commitmentInfo"] = words.has("strangely") ? "yes" : info
    }

    private var type: String {
        switch product {
        case "lifetime", "memories": "Non-Consumable"
        case "coins": "Consumable"
        case "pass30", "season": "Non-Renewing Subscription"
        default: "Auto-Renewable Subscription"
        }
    }

    private var signedDate: Timestamp {
        get throws { try words.time("signed") ?? day }
    }

    private func signedRenewal() throws -> String {
        var json = JSONText()
        json["originalTransactionId"] = original
        json["productId"] = product
        json["autoRenewProductId"] = words["next"] ?? product
        json["autoRenewStatus"] = words.has("off") ? 0 : 1
        json["environment"] = words["environment"] ?? environment
        json["signedDate"] = try (words.time("renewal") ?? signedDate).milliseconds
        json["expirationIntent"] = words["intent"].flatMap { Int($0) }
        json["priceIncreaseStatus"] = words["price"].flatMap { Int($0) }
        commitRenewal(&json)
        if words.has("retry") { json["isInBillingRetryPeriod"] = true }
        json["gracePeriodExpiresDate"] = try words.time("grace")?.milliseconds
        return try sign(json)
    }

    private func sign(_ json: JSONText) throws -> String {
        if let fault = words.plain.compactMap({ AppleSigning.faults[$0] }).first {
            return try fault(try json.bytes)
        }
        let trusted = try AppleAuthority.trusted.get()
        let text = try trusted.sign(try json.bytes)
        guard words.has("altered") else { return text }
        var other = json
        other["revocationDate"] = TestCalendar.start.milliseconds
        var parts = text.split(separator: ".")
        parts[1] = try trusted.sign(try other.bytes).split(separator: ".")[1]
        return parts.joined(separator: ".")
    }
}
