import Foundation
import Testing

@testable import StoreSimulator

@Suite("Legacy receipts")
struct ReceiptTests {
    private struct Made {
        var purchase: Purchase
        var app: String
        var transaction: String
    }

    private func buy(_ stage: Stage, _ more: String = "") throws -> Made {
        let purchase = try stage.buy(.apple, more)
        return try made(stage, purchase)
    }

    private func made(_ stage: Stage, _ purchase: Purchase) throws -> Made {
        let reply = stage.control("GET", "/purchases/\(purchase.number)").object
        return Made(
            purchase: purchase, app: try #require(reply["app_receipt"] as? String),
            transaction: try #require(reply["transaction_receipt"] as? String))
    }

    private func verify(
        _ stage: Stage, _ receipt: String, secret: String? = nil, more: [String: Any] = [:],
        at host: StoreHost = .production
    ) throws -> Reply {
        var body: [String: Any] = [
            "receipt-data": receipt, "password": secret ?? stage.credentials.appleSecret,
        ]
        body.merge(more) { $1 }
        return stage.responder.answer(
            Request(
                method: "POST", target: "/verifyReceipt",
                body: Array(try JSONSerialization.data(withJSONObject: body))), at: host)
    }

    private func pass(_ stage: Stage, _ period: String) {
        _ = stage.control("POST", "/clock", #"{"advance":"\#(period)"}"#)
    }

    @Test("tell the renewals that came after them, in no order, and a newer receipt")
    func tellsRenewals() throws {
        let stage = try Stage()
        let made = try buy(stage, #","trial":"P7D""#)
        pass(stage, "P8M")
        let answer = try verify(stage, made.app).object
        let receipt = try #require(answer["receipt"] as? [String: Any])
        let latest = try #require(answer["latest_receipt_info"] as? [[String: Any]])
        #expect(answer["status"] as? Int == 0)
        #expect(receipt["bundle_id"] as? String == "com.example.reader")
        #expect((receipt["in_app"] as? [Any])?.count == 1)
        #expect(latest.count == 9)
        let ids = latest.compactMap { $0["transaction_id"] as? String }
        #expect(ids != ids.sorted() && ids != ids.sorted(by: >))
        #expect(latest.count { $0["is_trial_period"] as? String == "true" } == 1)
        let newer = try #require(answer["latest_receipt"] as? String)
        #expect(newer != made.app)
        let again = try verify(stage, newer, more: ["exclude-old-transactions": true]).object
        #expect(((again["receipt"] as? [String: Any])?["in_app"] as? [Any])?.count == 9)
        #expect((again["latest_receipt_info"] as? [Any])?.count == 1)
        let pending = try #require(again["pending_renewal_info"] as? [[String: String]])
        #expect(pending.first?["auto_renew_status"] == "1")
        #expect(pending.first?["expiration_intent"] == nil)
    }

    /// What is sent where, and the status.
    static let refusals = rows(
        """
        receipt      secret  host        status
        app          right   production  0
        transaction  right   production  0
        app          wrong   production  21004
        transaction  wrong   production  21004
        app          right   sandbox     21008
        sandbox      right   production  21007
        sandbox      right   sandbox     0
        once         wrong   production  0
        spoiled      right   production  21003
        garbage      right   production  21002
        empty        right   production  21002
        """)

    @Test("are refused as the table says", arguments: refusals)
    func refuses(_ row: [String]) throws {
        let stage = try Stage()
        let text: String
        switch row[0] {
        case "app": text = try buy(stage).app
        case "transaction": text = try buy(stage).transaction
        case "sandbox": text = try buy(stage, #","environment":"sandbox""#).app
        case "once": text = try buy(stage, #","kind":"non_consumable""#).app
        case "spoiled":
            var bytes = try #require(Data(base64Encoded: try buy(stage).app))
            bytes[bytes.count - 9] ^= 1
            text = bytes.base64EncodedString()
        case "garbage": text = "TUlJ"
        default: text = ""
        }
        let reply = try verify(
            stage, text, secret: row[1] == "wrong" ? "0" : nil,
            at: row[2] == "sandbox" ? .sandbox : .production)
        #expect(reply.status == 200)
        #expect(reply.object["status"] as? Int == Int(row[3]))
    }

    @Test("want a POST with a JSON object")
    func wantsAPost() throws {
        let stage = try Stage()
        #expect(stage.get("/verifyReceipt").object["status"] as? Int == 21_000)
        let request = Request(method: "POST", target: "/verifyReceipt", body: Array("[]".utf8))
        let reply = stage.responder.answer(request, at: .production)
        #expect(reply.object["status"] as? Int == 21_002)
    }

    /// The members of the newest transaction and of the renewal that tell a state.
    static let states = rows(
        """
        deeds                              days  cancelled  upgraded  intent  retry  grace
        -                                  5     -          -         -       -      -
        cancel                             40    -          -         1       0      -
        fail_payment                       33    -          -         2       1      yes
        fail_payment                       40    -          -         2       1      -
        fail_payment                       100   -          -         2       0      -
        refund                             1     0          -         1       0      -
        ask_price                          40    -          -         3       0      -
        withdraw                           40    -          -         4       0      -
        """)

    @Test("tell each state as the table says", arguments: states)
    func tellsStates(_ row: [String]) throws {
        let stage = try Stage()
        let made = try buy(stage, #","grace":"P6D""#)
        if row[0] != "-" { #expect(stage.act(row[0], made.purchase).status == 200) }
        pass(stage, "P\(row[1])D")
        let answer = try verify(stage, made.app).object
        let latest = try #require((answer["latest_receipt_info"] as? [[String: String]])?.first)
        let renewal = try #require((answer["pending_renewal_info"] as? [[String: String]])?.first)
        let text = { (value: String?) in value ?? "-" }
        #expect(text(latest["cancellation_reason"]) == row[2])
        #expect(text(latest["is_upgraded"]) == row[3])
        #expect(text(renewal["expiration_intent"]) == row[4])
        #expect(text(renewal["is_in_billing_retry_period"]) == row[5])
        #expect((renewal["grace_period_expires_date_ms"] == nil) == (row[6] == "-"))
    }

    @Test("tell an upgrade by a flag and a date on what was upgraded")
    func tellsUpgrades() throws {
        let stage = try Stage()
        let made = try buy(stage)
        pass(stage, "P3D")
        let body = #"{"product":"pro.yearly","period":"P1Y"}"#
        #expect(stage.act("change_product", made.purchase, body).status == 200)
        let answer = try verify(stage, made.app).object
        let latest = try #require(answer["latest_receipt_info"] as? [[String: String]])
        let old = try #require(latest.first { $0["product_id"] == "pro.monthly" })
        let new = try #require(latest.first { $0["product_id"] == "pro.yearly" })
        #expect(old["is_upgraded"] == "true" && old["cancellation_reason"] == "0")
        #expect(new["is_upgraded"] == nil && new["cancellation_date"] == nil)
        let span = try #require(
            Int64(new["expires_date_ms"] ?? ""), "the new product has an end")
        let start = try #require(Int64(new["purchase_date_ms"] ?? ""))
        #expect(span - start >= 365 * Instant.day)
    }

    @Test("of iOS 6 expire with 21006 and are good again after a new purchase")
    func ofSix() throws {
        let stage = try Stage()
        let made = try buy(stage)
        let first = try verify(stage, made.transaction).object
        #expect(first["auto_renew_status"] as? Int == 1)
        let latest = try #require(first["latest_receipt_info"] as? [String: String])
        #expect(latest["expires_date"]?.allSatisfy(\.isNumber) == true)
        #expect(latest["bid"] == "com.example.reader")
        _ = stage.act("cancel", made.purchase)
        pass(stage, "P40D")
        let second = try verify(stage, made.transaction).object
        #expect(second["status"] as? Int == 21_006)
        #expect(second["latest_receipt_info"] == nil && second["latest_receipt"] == nil)
        #expect(second["latest_expired_receipt_info"] is [String: String])
        #expect(second["expiration_intent"] as? String == "1")
        _ = stage.act("renew", made.purchase)
        let third = try verify(stage, made.transaction).object
        #expect(third["status"] as? Int == 0)
        let newer = try #require(third["latest_receipt"] as? String)
        #expect(try verify(stage, newer).object["status"] as? Int == 0)
    }

    @Test("of products without an end name them once, and nothing that renews")
    func ofOneTimeProducts() throws {
        let stage = try Stage()
        for kind in ["non_consumable", "non_renewing", "consumable"] {
            let made = try buy(stage, #","kind":"\#(kind)","customer":"ann""#)
            let answer = try verify(stage, made.app, secret: "").object
            let items = (answer["receipt"] as? [String: Any])?["in_app"] as? [[String: String]]
            let own = try #require(items?.first { $0["transaction_id"] == made.purchase.token })
            #expect(own["expires_date"] == nil)
            #expect(answer["latest_receipt_info"] == nil && answer["latest_receipt"] == nil)
        }
        let subscription = try buy(stage, #","customer":"ann""#)
        let answer = try verify(stage, subscription.app).object
        #expect((answer["latest_receipt_info"] as? [Any])?.count == 4)
    }

    @Test("of a closed account are answered with 21010")
    func ofClosedAccounts() throws {
        let stage = try Stage()
        let made = try buy(stage)
        _ = stage.act("close_account", made.purchase)
        let answer = try verify(stage, made.app).object
        #expect(answer["status"] as? Int == 21_010)
        #expect(answer["is_retryable"] as? Bool == false)
        #expect(try stage.apple(made.purchase.token).object["errorCode"] as? Int == 4_040_001)
    }

    @Test("can be had as of an earlier instant")
    func ofEarlier() throws {
        let stage = try Stage()
        _ = stage.control("POST", "/clock", #"{"set":"2026-06-15T00:00:00Z"}"#)
        let purchase = try stage.buy(.apple, #","start":"2026-01-15T00:00:00Z""#)
        let path = "/purchases/\(purchase.number)/receipt?at=2026-03-01T00:00:00Z"
        let receipt = try #require(stage.control("GET", path).object["receipt"] as? String)
        let answer = try verify(stage, receipt).object
        let decoded = try #require(answer["receipt"] as? [String: Any])
        #expect((decoded["in_app"] as? [Any])?.count == 2)
        #expect(
            decoded["receipt_creation_date"] as? String == "2026-03-01 00:00:00 Etc/GMT")
    }

    @Test(
        "write dates in Los Angeles with its summer time",
        arguments: [
            ("2026-03-08T09:59:59Z", "2026-03-08 01:59:59 America/Los_Angeles"),
            ("2026-03-08T10:00:00Z", "2026-03-08 03:00:00 America/Los_Angeles"),
            ("2026-11-01T08:59:59Z", "2026-11-01 01:59:59 America/Los_Angeles"),
            ("2026-11-01T09:00:00Z", "2026-11-01 01:00:00 America/Los_Angeles"),
            ("2025-12-30T20:41:55Z", "2025-12-30 12:41:55 America/Los_Angeles"),
        ])
    func writesDates(_ instant: String, _ text: String) throws {
        #expect(try #require(Instant(text: instant)).losAngelesText == text)
    }
}
