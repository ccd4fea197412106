import Curl
import Foundation
import Renewal
import StoreFixtures
import Testing

@testable import Stores

/// What each answer of verifyReceipt comes to, for an app that has no key. `latest` are the
/// transactions of `latest_receipt_info`, each put over a paid month; `pending` is put over an
/// entry of `pending_renewal_info`. It is 20 March 2026, noon.
struct AppleVerifyReceiptTests {
    static let now = AppleFixture.now
    static let month = #"""
        {"quantity":"1","product_id":"plus","transaction_id":"420001066677889",
        "original_transaction_id":"420001010101001","purchase_date_ms":"1773738900000",
        "original_purchase_date_ms":"1768036501000","expires_date":"2026-04-17 09:15:00 Etc/GMT",
        "expires_date_ms":"1776417300000","web_order_line_item_id":"420000501000004",
        "is_trial_period":"false","is_in_intro_offer_period":"false",
        "in_app_ownership_type":"PURCHASED","subscription_group_identifier":"21098765"}
        """#
    static let renewal = #"""
        {"auto_renew_product_id":"plus","product_id":"plus",
        "original_transaction_id":"420001010101001","auto_renew_status":"1"}
        """#
    static let old = #"""
        "quantity":"1","product_id":"plus","transaction_id":"420001066677889",
        "original_transaction_id":"420001010101001","bid":"com.example.reader"
        """#

    static let cases = Case.all(
        #"""
        case: active, in any order, with a stale copy in the receipt
        latest: {"transaction_id":"1","expires_date_ms":"1771319700000"}; {};
            {"transaction_id":"2","expires_date_ms":"1773738900000"}
        inApp: {"expires_date_ms":"1773738900000"}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular

        case: numbers as texts, texts as numbers, truth as anything
        latest: {"original_transaction_id":420001010101001,"is_trial_period":true,
            "quantity":1,"expires_date_ms":1776417300000}
        pending: {"auto_renew_status":1,"original_transaction_id":420001010101001,
            "price_consent_status":""}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, trial

        case: introductory price
        latest: {"is_in_intro_offer_period":"true"}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, introductory

        case: only the form for people
        latest: {"expires_date_ms":null}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular

        case: renewal turned off
        latest: {}
        pending: {"auto_renew_status":"0"}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews no, regular

        case: price increase to be agreed to
        latest: {}
        pending: {"price_consent_status":"0"}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular, price_increase_pending

        case: downgrade at the next renewal
        latest: {}
        pending: {"auto_renew_product_id":"mini"}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular, product_change_scheduled

        case: refunded though the expiry is in the future
        latest: {"cancellation_date_ms":"1772719964000","cancellation_reason":"1"}
        hear: refunded 26-03-05T14, production, plus 26-04-17T09, paid 26-04-17T09,
            until 26-04-17T09, renews yes, regular

        case: a past period refunded
        latest: {}; {"transaction_id":"1","expires_date_ms":"1773738900000",
            "cancellation_date_ms":"1772719964000"}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular, refund_of_past_period

        case: the latest period refunded, an earlier one over
        latest: {"cancellation_date_ms":"1773819000000"};
            {"transaction_id":"1","expires_date_ms":"1773738900000"}
        hear: refunded 26-03-18T07, production, plus 26-04-17T09, paid 26-04-17T09,
            until 26-04-17T09, renews yes, regular

        case: removed from the family
        latest: {"cancellation_date_ms":"1772719964000","in_app_ownership_type":"FAMILY_SHARED"}
        hear: removedFromFamily 26-03-05T14, production, plus 26-04-17T09, paid 26-04-17T09,
            until 26-04-17T09, renews yes, regular

        case: upgraded to a year
        latest: {"transaction_id":"1","is_upgraded":"true","cancellation_date_ms":"1773305110000"};
            {"product_id":"year","transaction_id":"2","expires_date_ms":"1804841110000"}
        hear: active, production, year 27-03-12T08, paid 27-03-12T08, until 27-03-12T08,
            renews yes, regular

        case: upgraded to another subscription of the group
        latest: {"transaction_id":"1","is_upgraded":"true"}; {"product_id":"year",
            "transaction_id":"2","original_transaction_id":"77","expires_date_ms":"1804841110000"}
        hear: active, production, year 27-03-12T08, paid 27-03-12T08, until 27-03-12T08,
            renews -, regular

        case: upgraded, and nothing else there
        latest: {"is_upgraded":"true"}
        hear: replaced -, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular

        case: grace
        latest: {"expires_date_ms":"1773937200000"}
        pending: {"expiration_intent":"2","is_in_billing_retry_period":"1",
            "grace_period_expires_date_ms":"1775319600000"}
        hear: grace, production, plus 26-04-04T16, paid 26-03-19T16, until 26-04-04T16,
            renews yes, regular

        case: billing retry
        latest: {"expires_date_ms":"1773937200000"}
        pending: {"expiration_intent":"2","is_in_billing_retry_period":"1"}
        hear: hold, production, plus 26-03-19T16, paid 26-03-19T16, until 26-03-19T16,
            renews yes, regular

        case: billing retry after the grace, without an intent
        latest: {"expires_date_ms":"1773937200000"}
        pending: {"is_in_billing_retry_period":"1","grace_period_expires_date_ms":"1773999000000"}
        hear: hold, production, plus 26-03-19T16, paid 26-03-19T16, until 26-03-19T16,
            renews yes, regular

        case: ended by the user
        latest: {"expires_date_ms":"1773937200000"}
        pending: {"expiration_intent":"1","auto_renew_status":"0"}
        hear: ended userCancelled 26-03-19T16, production, plus 26-03-19T16, paid 26-03-19T16,
            until 26-03-19T16, renews no, regular

        case: ended for want of payment
        latest: {"expires_date_ms":"1773937200000"}
        pending: {"expiration_intent":"2","is_in_billing_retry_period":"0"}
        hear: ended paymentFailed 26-03-19T16, production, plus 26-03-19T16, paid 26-03-19T16,
            until 26-03-19T16, renews yes, regular

        case: ended by a declined price
        latest: {"expires_date_ms":"1773937200000"}
        pending: {"expiration_intent":"3"}
        hear: ended priceIncreaseDeclined 26-03-19T16, production, plus 26-03-19T16,
            paid 26-03-19T16, until 26-03-19T16, renews yes, regular

        case: ended with the product
        latest: {"expires_date_ms":"1773937200000"}
        pending: {"expiration_intent":"4"}
        hear: ended productUnavailable 26-03-19T16, production, plus 26-03-19T16,
            paid 26-03-19T16, until 26-03-19T16, renews yes, regular

        case: ended, and the entry is gone
        latest: {"expires_date_ms":"1773937200000"}
        pending: {"original_transaction_id":"other","product_id":"other"}
        hear: contested ended periodEnded 26-03-19T16, production, plus 26-03-19T16,
            paid 26-03-19T16, until 26-03-19T16, renews -, regular

        case: over for hours, and to renew: nothing says that it has ended
        latest: {"expires_date_ms":"1773937200000"}
        hear: contested ended periodEnded 26-03-19T16, production, plus 26-03-19T16,
            paid 26-03-19T16, until 26-03-19T16, renews yes, regular

        case: bought again after the refund of a longer period, and in grace
        latest: {"transaction_id":"1","is_upgraded":"true","purchase_date_ms":"1765000000000",
            "web_order_line_item_id":"1"};
            {"transaction_id":"2","product_id":"year","purchase_date_ms":"1766000000000",
            "expires_date_ms":"1797536000000","cancellation_date_ms":"1767000000000"};
            {"transaction_id":"3","purchase_date_ms":"1771319700000",
            "expires_date_ms":"1773937200000"}
        pending: {"expiration_intent":"2","is_in_billing_retry_period":"1",
            "grace_period_expires_date_ms":"1775319600000"}
        hear: grace, production, plus 26-04-04T16, paid 26-03-19T16, until 26-04-04T16,
            renews yes, regular

        case: the request is of the future
        answer: {"status":0,"receipt":{"bundle_id":"com.example.reader",
            "request_date_ms":"1774011600000"},"latest_receipt_info":[]}
        hear: malformed receipt.request_date_ms is in the future

        case: only the receipt's own list, and its period is over
        answer: {"status":0,"receipt":{"bundle_id":"com.example.reader","in_app":[
            {"product_id":"plus","transaction_id":"1","original_transaction_id":"1",
            "purchase_date_ms":"1768641300000","expires_date_ms":"1771319700000"}]}}
        hear: doubt not_found

        case: at a renewal that is not shown yet
        latest: {"expires_date_ms":"1774007400000"}
        hear: active, production, plus 26-03-20T11, paid 26-03-20T11, until 26-03-20T11,
            renews yes, regular

        case: a one-time product
        latest: {"expires_date_ms":null,"expires_date":null,"web_order_line_item_id":null}
        hear: active, production, plus -, paid -, until -, renews no, regular, non_consumable

        case: a one-time product refunded
        latest: {"expires_date_ms":null,"expires_date":null,"cancellation_date_ms":"1772719964000"}
        hear: refunded 26-03-05T14, production, plus -, paid -, until -, renews no, regular,
            non_consumable

        case: one-time products do not enter the greatest expiry
        latest: {"product_id":"gems","transaction_id":"1","original_transaction_id":"1",
            "expires_date_ms":null,"expires_date":null,"purchase_date_ms":"1773999000000"}; {}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular

        case: another product only, of several
        latest: {"product_id":"a"}; {"product_id":"b","transaction_id":"1",
            "original_transaction_id":"1"}
        hear: doubt not_found

        case: no purchase at all
        answer: {"status":0,"receipt":{"bundle_id":"com.example.reader","in_app":[]}}
        hear: doubt not_found

        case: iOS 6, active
        answer: {"status":0,"auto_renew_status":1,"auto_renew_product_id":"plus","receipt":{OLD,
            "expires_date":"1772708400000"},
            "latest_receipt_info":{"transaction_id":"9","expires_date":"1775386800000",OLD}}
        hear: active, production, plus 26-04-05T11, paid 26-04-05T11, until 26-04-05T11,
            renews yes, regular

        case: iOS 6, expired
        answer: {"status":21006,"auto_renew_status":0,"expiration_intent":"1",
            "receipt":{OLD,"expires_date":"1770289200000"},
            "latest_expired_receipt_info":{"transaction_id":"9",
            "expires_date":"1772708400000",OLD}}
        hear: ended userCancelled 26-03-05T11, production, plus 26-03-05T11, paid 26-03-05T11,
            until 26-03-05T11, renews no, regular

        case: iOS 6, expired just now, and the latest is not told
        answer: {"status":21006,"receipt":{OLD,"expires_date":"1774007400000"}}
        hear: doubt not_found

        case: iOS 6, expired, and renewal not known to be off
        answer: {"status":21006,"receipt":{OLD,"expires_date":"1770289200000"},
            "latest_expired_receipt_info":{"transaction_id":"9","expires_date":"1772708400000",OLD}}
        hear: contested ended periodEnded 26-03-05T11, production, plus 26-03-05T11,
            paid 26-03-05T11, until 26-03-05T11, renews -, regular

        case: iOS 6, expired, and in billing retry
        answer: {"status":21006,"auto_renew_status":0,"is_in_billing_retry_period":"1",
            "receipt":{OLD,"expires_date":"1770289200000"},
            "latest_expired_receipt_info":{"transaction_id":"9","expires_date":"1772708400000",OLD}}
        hear: contested hold, production, plus 26-03-05T11, paid 26-03-05T11,
            until 26-03-05T11, renews no, regular

        case: iOS 6, not expired, and in billing retry: in grace
        answer: {"status":0,"auto_renew_status":1,"is_in_billing_retry_period":"1",
            "expiration_intent":"2","receipt":{OLD,"expires_date":"1770289200000"},
            "latest_receipt_info":{"transaction_id":"9","expires_date":"1772708400000",OLD}}
        hear: grace, production, plus -, paid 26-03-05T11, until -, renews yes, regular

        case: iOS 6, an old period runs and the latest is refunded
        answer: {"status":0,"auto_renew_status":0,"receipt":{OLD,"expires_date":"1776417300000"},
            "latest_receipt_info":{"transaction_id":"9","expires_date":"1776417300000",
            "cancellation_date_ms":"1773819000000",OLD}}
        hear: refunded 26-03-18T07, production, plus 26-04-17T09, paid 26-04-17T09,
            until 26-04-17T09, renews no, regular

        case: iOS 6, expired, and the latest as a text
        answer: {"status":21006,"receipt":{OLD,"expires_date":"1770289200000"},
            "latest_expired_receipt_info":"ewo="}
        hear: doubt not_found

        case: iOS 6, the latest as a list, changed to another product
        answer: {"status":0,"receipt":{"product_id":"mini","expires_date":"1772708400000",OLD},
            "latest_receipt_info":[{"product_id":"max","transaction_id":"9",
            "expires_date":"1775386800000",OLD}]}
        hear: active, production, max 26-04-05T11, paid 26-04-05T11, until 26-04-05T11,
            renews -, regular

        case: expired, without its receipt
        answer: {"status":21006}
        hear: malformed receipt.bundle_id

        case: another app
        answer: {"status":0,"receipt":{"bundle_id":"com.example.other","in_app":[]}}
        hear: mismatch app

        case: another app, iOS 6
        answer: {"status":0,"receipt":{"bid":"com.example.other",OLD}}
        hear: mismatch app

        case: no app
        answer: {"status":0,"receipt":{"in_app":[]}}
        hear: malformed receipt.bundle_id

        case: another environment
        answer: {"status":0,"environment":"Sandbox","receipt":{OLD}}
        hear: mismatch environment

        case: a date that is none
        latest: {"expires_date_ms":"soon"}
        hear: malformed expires_date_ms

        case: a date of another age
        latest: {"expires_date_ms":"1776417300"}
        hear: malformed expires_date_ms

        case: says no time: nothing ends by our clock, also where renewal is off
        undated: yes
        latest: {"expires_date_ms":"1773937200000"}
        pending: {"auto_renew_status":"0"}
        hear: malformed receipt.request_date_ms, and no Date

        case: says no time, and a grace has passed by our clock
        undated: yes
        latest: {"expires_date_ms":"1773937200000"}
        pending: {"expiration_intent":"2","is_in_billing_retry_period":"1",
            "grace_period_expires_date_ms":"1773999000000"}
        hear: malformed receipt.request_date_ms, and no Date

        case: says no time, and its own word that it is over
        undated: yes
        latest: {"expires_date_ms":"1773937200000"}
        pending: {"auto_renew_status":"0","expiration_intent":"1"}
        hear: ended userCancelled 26-03-19T16, production, plus 26-03-19T16, paid 26-03-19T16,
            until 26-03-19T16, renews no, regular

        case: says no time, and a refund
        undated: yes
        latest: {"cancellation_date_ms":"1773999000000"}
        hear: refunded 26-03-20T09, production, plus 26-04-17T09, paid 26-04-17T09,
            until 26-04-17T09, renews yes, regular

        case: says no time, and runs
        undated: yes
        latest: {}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular

        case: a status that is no number
        answer: {"status":true}
        hear: malformed status

        case: no status
        answer: {"environment":"Production"}
        hear: malformed status
        """#)

    @Test(arguments: cases)
    func hears(_ row: Case) async throws {
        let body = try row["answer"].map { $0.replacing("OLD", with: Self.old) } ?? Self.answer(row)
        let date = row["undated"].map { _ in "not told" }
        let world = FakeWorld(clock: Self.now) { _ async throws(CurlError) in
            .json(body).dated(date)
        }
        let answer = try await Self.store(world).ask(Self.receipt(), at: Self.now)
        #expect(summary(answer) == row["hear"])
        #expect(world.requests.count == 1)
    }

    private static func answer(_ row: Case) throws -> String {
        func list(_ text: String?, over base: String) throws -> String {
            try (text ?? "").split(separator: ";").map {
                String(decoding: try merged(base, String($0)), as: UTF8.self)
            }.joined(separator: ",")
        }
        return #"""
            {"status":0,"environment":"Production","receipt":{"receipt_type":"Production",
            "bundle_id":"com.example.reader","download_id":null,"app_item_id":"1",
            \#(row["undated"] == nil ? #""request_date_ms":"1774008000417","# : "")"in_app":[\#(try list(row["inApp"], over: month))]},
            "latest_receipt_info":[\#(try list(row["latest"], over: month))],
            "latest_receipt":"AAAA",
            "pending_renewal_info":[\#(try list(row["pending"] ?? "{}", over: renewal))]}
            """#
    }

    static func store(
        _ world: FakeWorld, key: AppleAPIKey? = nil, secret: String? = "5e0c1d"
    ) throws -> AppleStore {
        try AppleStore(
            credentials: AppleCredentials(
                bundleID: "com.example.reader", apiKey: key,
                sharedSecret: secret.map { Secret($0) }),
            production: try #require(StoreHost(baseURL: "https://apple.example")),
            sandbox: try #require(StoreHost(baseURL: "https://sandbox.example")),
            receipts: [
                .production: try #require(AppleReceiptEndpoint(url: "https://buy.example/verify")),
                .sandbox: try #require(AppleReceiptEndpoint(url: "https://try.example/verify")),
            ], verifier: try AppleFixture.verifier(), transport: world.transport)
    }

    static func receipt(
        _ bytes: [UInt8] = AppleReceiptFixture.app(), environment: StoreEnvironment? = nil
    ) -> Purchase {
        purchase(.apple, token: AppleReceiptFixture.base64(bytes), environment: environment)
    }
}
