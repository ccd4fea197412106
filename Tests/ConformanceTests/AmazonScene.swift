import Curl
import Foundation
import Renewal
import Stores
import TestSupport

/// Amazon's Receipt Verification Service.
///
/// An answer names the type first where it is not a subscription: `ENTITLED`, `CONSUMABLE`. Then
/// `renews 30` (the end of the term, auto-renew on), `off` or `off 30`, and `cancelled=10`,
/// `reason=2`, `grace=33`, `trial=7`, `term=plus_year` and so on. `base=b1` makes it an add-on, of
/// which `/ b1 renews 30` answers for the base.
struct AmazonScene: StoreScene {
    let wire = Wire()
    private let store: AmazonStore

    init(_ options: Words) throws {
        guard let production = StoreHost(baseURL: "https://amazon.example"),
            let sandbox = StoreHost(baseURL: "https://sandbox.example")
        else { throw UnreadableCell(cell: "host") }
        let allowsSandbox = options.has("testers")
        store = AmazonStore(
            credentials: AmazonCredentials(
                appID: Shop.bundle, sharedSecret: Secret("2:sharedSecret"),
                allowsSandbox: allowsSandbox),
            production: production, sandbox: allowsSandbox ? sandbox : nil,
            transport: wire.transport)
    }

    func ask(
        _ purchase: Purchase, at now: Timestamp, in session: CallSession
    ) async -> Answer {
        await store.within(session).ask(purchase, at: now)
    }

    func prepare(_ cell: String, at day: Timestamp) throws {
        var parts = cell.components(separatedBy: " / ")
        let result = try Self.result(parts.removeFirst())
        var bases: [String: Result<HTTPResponse, CurlError>] = [:]
        for part in parts {
            let words = part.split(separator: " ", maxSplits: 1).map(String.init)
            bases[words[0]] = try Self.result("\(words[1]) receipt=\(words[0])")
        }
        let answers = bases
        let isSandbox = Words(cell).has("sandbox")
        wire.answer(at: day) { request throws(CurlError) in
            guard request.url.hasPrefix("https://sandbox.example") == isSandbox else {
                return .json(Self.errorBody(400), status: 400)
            }
            let receipt = request.url.split(separator: "/").last.map(String.init) ?? ""
            return try (answers[receipt] ?? result).get()
        }
    }

    func prepare(body: [UInt8], at day: Timestamp) {
        wire.answer(at: day) { _ throws(CurlError) in .json(body) }
    }

    static func result(_ cell: String) throws -> Result<HTTPResponse, CurlError> {
        let words = Words(cell)
        let trouble = try Trouble(
            words, insteadOf: try body("renews 30")
        ) { status, _ in errorBody(status) }
        return try trouble?.result ?? .success(.json(try body(cell)))
    }

    private static func errorBody(_ status: Int) -> String {
        switch status {
        case 400: #"{"message":"Failed to parse receipt Id","status":false}"#
        case 410: ""
        case 496: #"{"message":"Invalid developerSecret","status":false}"#
        case 497: #"{"message":"Purchase token/app user mismatch","status":false}"#
        default: "<html></html>"
        }
    }

    /// The full body of an answer.
    static func body(_ cell: String) throws -> String {
        let words = Words(cell)
        var json = try JSONText(Self.base)
        let type = ["ENTITLED", "CONSUMABLE", "MYSTERY"].first(where: words.has)
        var plain = words.plain.filter { $0 != type }
        if let type {
            json["productType"] = type
            for name in ["renewalDate", "term", "termSku"] { json[name] = NSNull() }
            json["autoRenewing"] = false
        } else {
            json["autoRenewing"] = words.has("renews")
            json["renewalDate"] = NSNull()
        }
        let day = plain.first { $0.first?.isNumber == true }
        if let day { json["renewalDate"] = try TestCalendar.time(day).milliseconds }
        plain.removeAll {
            ["renews", "off", "sandbox", "beta", "test", "capitals", "texts", day].contains($0)
        }
        guard plain.isEmpty else { throw UnreadableCell(cell: plain.joined(separator: " ")) }
        try words.require(
            plain: Set(words.plain),
            keys: [
                "cancelled", "reason", "grace", "trial", "bought", "product", "term", "deferred",
                "promotion", "receipt", "quantity", "unknown", "without", "nought", "base",
                "change", "fulfilled", "country", "type",
            ])
        for (key, name) in [
            ("cancelled", "cancelDate"), ("grace", "gracePeriodEndDate"),
            ("trial", "freeTrialEndDate"), ("bought", "purchaseDate"),
        ] {
            if let date = try words.time(key) { json[name] = date.milliseconds }
        }
        try put(words, into: &json)
        return try json.text
    }

    private static func put(_ words: Words, into json: inout JSONText) throws {
        if let product = words["product"] { json["productId"] = product }
        if let type = words["type"] { json["productType"] = type }
        if let term = words["term"] { json["termSku"] = term == "-" ? NSNull() : term }
        if let reason = words["reason"] { json["cancelReason"] = Int(reason) ?? reason }
        if let name = words["nought"] { json[name] = 0 }
        if let quantity = words["quantity"].flatMap({ Int($0) }) { json["quantity"] = quantity }
        if let receipt = words["receipt"] { json["receiptId"] = receipt }
        if let next = words["deferred"] { json["deferredSku"] = next }
        if let date = try words.time("change") { json["deferredDate"] = date.milliseconds }
        if let bases = words["base"] { json["baseReceipts"] = bases.components(separatedBy: ",") }
        if let country = words["country"] { json["countryCode"] = country }
        if let result = words["fulfilled"] {
            json["fulfillmentResult"] = result == "-" ? NSNull() : result
            if result == "-" { json["fulfillmentDate"] = NSNull() }
            if result == "nought" {
                json["fulfillmentResult"] = NSNull()
                json["fulfillmentDate"] = 0
            }
            if result == "absent" {
                json["fulfillmentResult"] = nil
                json["fulfillmentDate"] = nil
            }
        }
        if let name = words["unknown"] { json[name] = ["a": [1, 2.5, NSNull()]] }
        if let name = words["without"] { json[name] = nil }
        if let promotion = words["promotion"] {
            json["promotions"] = [
                [
                    "promotionType": promotion.replacing("_", with: " "),
                    "promotionStatus": "InProgress",
                ]
            ]
        }
        if words.has("test") || words.has("sandbox") { json["testTransaction"] = true }
        if words.has("beta") { json["betaProduct"] = true }
        if words.has("texts") {
            for (name, value) in json.members where name.hasSuffix("Date") {
                if let number = value as? Int64 { json[name] = String(number) }
            }
            for name in ["cancelReason", "autoRenewing"] {
                if let value = json.members[name], !(value is NSNull) { json[name] = "\(value)" }
            }
        }
        if words.has("capitals") {
            for name in ["autoRenewing", "gracePeriodEndDate"] {
                json[name.prefix(1).uppercased() + name.dropFirst()] = json[name]
                json[name] = nil
            }
        }
    }

    /// An active monthly subscription, with every member that answers have.
    private static let base = """
        {"autoRenewing":true,"baseReceipts":null,"betaProduct":false,"cancelDate":null,
        "cancelReason":null,"countryCode":"DE","deferredDate":null,"deferredSku":null,
        "freeTrialEndDate":null,"fulfillmentDate":1767225662000,"fulfillmentResult":"FULFILLED",
        "gracePeriodEndDate":null,"parentProductId":null,"productId":"plus",
        "productType":"SUBSCRIPTION","promotions":null,"purchaseDate":1767225600000,
        "purchaseMetadataMap":null,"quantity":1,"receiptId":"Zk3vA=:3:11",
        "renewalDate":1769817600000,"term":"1 Month","termSku":"plus.monthly",
        "testTransaction":false}
        """
}
