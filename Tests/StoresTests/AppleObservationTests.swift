import Curl
import Renewal
import Testing

@testable import Stores

/// What each answer of Apple comes to. `transaction` and `renewal` are put over a running
/// subscription, signed, and answered with `status`. It is 20 March 2026, noon.
struct AppleObservationTests {
    static let transaction = #"""
        {"transactionId":"420001066677889","originalTransactionId":"420001010101001",
        "webOrderLineItemId":"420000501000004","bundleId":"com.example.reader",
        "productId":"plus","subscriptionGroupIdentifier":"21098765",
        "purchaseDate":1773738900000,"originalPurchaseDate":1768036501000,
        "expiresDate":1776417300000,"quantity":1,"type":"Auto-Renewable Subscription",
        "inAppOwnershipType":"PURCHASED","signedDate":1774008000120,
        "environment":"Production","transactionReason":"RENEWAL","storefront":"DEU",
        "price":4990,"currency":"EUR"}
        """#
    static let renewal = #"""
        {"originalTransactionId":"420001010101001","autoRenewProductId":"plus",
        "productId":"plus","autoRenewStatus":1,"signedDate":1774008000000,
        "environment":"Production","renewalDate":1776417300000}
        """#

    static let cases = Case.all(
        #"""
        case: active
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular

        case: unknown members and unknown values of other enumerations
        transaction: {"news":{"a":[1]},"offerType":77,"transactionReason":"WISH","storefront":7}
        renewal: {"expirationIntent":99,"news":[]}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular

        case: absent members
        transaction: {"webOrderLineItemId":null,"type":null,"inAppOwnershipType":null,
            "price":null,"originalPurchaseDate":null,"signedDate":null}
        renewal: {"autoRenewStatus":null,"autoRenewProductId":null,"signedDate":null}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews -, regular

        case: cancelled by the user and still running
        renewal: {"autoRenewStatus":0,"expirationIntent":1}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews no, regular

        case: trial
        transaction: {"offerType":1,"offerDiscountType":"FREE_TRIAL"}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, trial

        case: introductory price
        transaction: {"offerType":1,"offerDiscountType":"PAY_UP_FRONT"}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, introductory

        case: promotional offer, free
        transaction: {"offerType":2,"offerDiscountType":"FREE_TRIAL"}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, trial

        case: change of product at the next renewal
        renewal: {"autoRenewProductId":"max"}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular, product_change_scheduled

        case: another product, but no renewal
        renewal: {"autoRenewProductId":"max","autoRenewStatus":0}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews no, regular

        case: price increase not answered
        renewal: {"priceIncreaseStatus":0}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular, price_increase_pending

        case: price increase agreed to
        renewal: {"priceIncreaseStatus":1}
        hear: active, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular

        case: grace
        status: 4
        transaction: {"expiresDate":1773937200000}
        renewal: {"expirationIntent":2,"isInBillingRetryPeriod":true,
            "gracePeriodExpiresDate":1775319600000}
        hear: grace, production, plus 26-04-04T16, paid 26-03-19T16, until 26-04-04T16,
            renews yes, regular

        case: billing retry
        status: 3
        transaction: {"expiresDate":1773937200000}
        renewal: {"expirationIntent":2,"isInBillingRetryPeriod":true}
        hear: hold, production, plus 26-03-19T16, paid 26-03-19T16, until 26-03-19T16,
            renews yes, regular

        case: expired after the user's cancellation
        status: 2
        transaction: {"expiresDate":1773937200000}
        renewal: {"expirationIntent":1,"autoRenewStatus":0}
        hear: ended userCancelled 26-03-19T16, production, plus 26-03-19T16, paid 26-03-19T16,
            until 26-03-19T16, renews no, regular

        case: expired for want of payment
        status: 2
        transaction: {"expiresDate":1773937200000}
        renewal: {"expirationIntent":2,"autoRenewStatus":0}
        hear: ended paymentFailed 26-03-19T16, production, plus 26-03-19T16, paid 26-03-19T16,
            until 26-03-19T16, renews no, regular

        case: expired because the price increase was declined
        status: 2
        transaction: {"expiresDate":1773937200000}
        renewal: {"expirationIntent":3}
        hear: ended priceIncreaseDeclined 26-03-19T16, production, plus 26-03-19T16,
            paid 26-03-19T16, until 26-03-19T16, renews yes, regular

        case: expired because the product is gone
        status: 2
        transaction: {"expiresDate":1773937200000}
        renewal: {"expirationIntent":4}
        hear: ended productUnavailable 26-03-19T16, production, plus 26-03-19T16,
            paid 26-03-19T16, until 26-03-19T16, renews yes, regular

        case: expired for another reason
        status: 2
        transaction: {"expiresDate":1773937200000}
        renewal: {"expirationIntent":5,"autoRenewStatus":0}
        hear: ended periodEnded 26-03-19T16, production, plus 26-03-19T16, paid 26-03-19T16,
            until 26-03-19T16, renews no, regular

        case: refunded though the expiry is in the future
        status: 5
        transaction: {"revocationDate":1772719964000,"revocationReason":1,
            "revocationType":"REFUND_PRORATED"}
        hear: refunded 26-03-05T14, production, plus 26-04-17T09, paid 26-04-17T09,
            until 26-04-17T09, renews yes, regular

        case: revoked, and the unsigned status says active
        transaction: {"revocationDate":1772719964000}
        hear: contested refunded 26-03-05T14, production, plus 26-04-17T09, paid 26-04-17T09,
            until 26-04-17T09, renews yes, regular

        case: removed from the family
        status: 5
        transaction: {"revocationDate":1772479800000,"revocationReason":0,
            "revocationType":"FAMILY_REVOKE","inAppOwnershipType":"FAMILY_SHARED"}
        hear: removedFromFamily 26-03-02T19, production, plus 26-04-17T09, paid 26-04-17T09,
            until 26-04-17T09, renews yes, regular

        case: a family member's, without the newer field
        status: 5
        transaction: {"revocationDate":1772479800000,"inAppOwnershipType":"FAMILY_SHARED"}
        hear: removedFromFamily 26-03-02T19, production, plus 26-04-17T09, paid 26-04-17T09,
            until 26-04-17T09, renews yes, regular

        case: upgraded, and nothing else there
        transaction: {"isUpgraded":true}
        hear: replaced -, production, plus 26-04-17T09, paid 26-04-17T09, until 26-04-17T09,
            renews yes, regular

        case: status of another age
        status: 6
        hear: malformed status

        case: expired, says the unsigned status, but the signed dates do not
        status: 2
        hear: contested ended periodEnded 26-04-17T09, production, plus 26-04-17T09,
            paid 26-04-17T09, until 26-04-17T09, renews yes, regular

        case: no expiry
        transaction: {"expiresDate":null}
        hear: malformed signedTransactionInfo.expiresDate

        case: a fraction of a millisecond
        transaction: {"expiresDate":1776417300000.485}
        hear: malformed expiresDate

        case: an expiry of another age
        transaction: {"expiresDate":1776417300}
        hear: malformed signedTransactionInfo.expiresDate

        case: a date as a text
        renewal: {"gracePeriodExpiresDate":"soon"}
        hear: malformed gracePeriodExpiresDate

        case: no product
        transaction: {"productId":null}
        hear: malformed signedTransactionInfo.productId

        case: another app
        transaction: {"bundleId":"com.example.other"}
        hear: mismatch app

        case: no app
        transaction: {"bundleId":null}
        hear: mismatch app

        case: sandbox data from production
        transaction: {"environment":"Sandbox"}
        hear: mismatch environment

        case: nobody's environment
        transaction: {"environment":"Xcode"}
        hear: mismatch environment, one that is not known

        case: no environment
        transaction: {"environment":null}
        hear: malformed signedTransactionInfo.environment

        case: renewal of another environment
        renewal: {"environment":"Sandbox"}
        hear: mismatch environment

        case: renewal of another subscription
        renewal: {"originalTransactionId":"420009999999999"}
        hear: mismatch transaction

        case: transaction of another subscription
        transaction: {"originalTransactionId":"420009999999999"}
        hear: mismatch transaction

        case: nothing at all
        answer: {"data":[]}
        hear: doubt not_found

        case: an empty group
        answer: {"data":[{"subscriptionGroupIdentifier":"1","lastTransactions":[]}]}
        hear: doubt not_found

        case: no list
        answer: {"environment":"Production"}
        hear: malformed data

        case: the answer is for another app
        answer: {"bundleId":"com.example.other","data":[]}
        hear: mismatch app

        case: the answer is for another environment
        answer: {"environment":"Sandbox","data":[]}
        hear: mismatch environment

        case: a status that is no number
        answer: {"data":[{"lastTransactions":[{"status":"on","signedTransactionInfo":"a.b.c"}]}]}
        hear: malformed data.[0].lastTransactions.[0].status

        case: no signed transaction
        answer: {"data":[{"lastTransactions":[{"status":1}]}]}
        hear: malformed data.[0].lastTransactions.[0].signedTransactionInfo
        """#)

    @Test(arguments: cases)
    func hears(_ row: Case) async throws {
        let status = try #require(Int(row["status"] ?? "1"))
        let entry = try AppleFixture.entry(
            status, transaction: merged(Self.transaction, row["transaction"]),
            renewal: merged(Self.renewal, row["renewal"]))
        let body = row["answer"] ?? AppleFixture.answer([entry])
        #expect(summary(try await AppleFixture.read(body)) == row["hear"])
    }

    @Test func namesTheOrderThePeriodAndWhenItWasSaid() async throws {
        let entry = try AppleFixture.entry(
            1, transaction: Array(Self.transaction.utf8), renewal: Array(Self.renewal.utf8))
        guard
            case .verdict(let observation) = try await AppleFixture.read(
                AppleFixture.answer([entry]))
        else {
            Issue.record("no verdict")
            return
        }
        #expect(observation.originalID == "420001010101001")
        #expect(observation.orderID == "420001066677889")
        #expect(observation.period == "420000501000004")
        #expect(observation.purchasedAt == (try time("2026-03-17T09:15:00Z")))
        #expect(observation.statedAt == (try time("2026-03-20T12:00:00.120Z")))
        #expect(
            observation.words == "status 1, autoRenewStatus 1, expiresDate 2026-04-17T09:15:00Z")
    }

    /// One entry a line: group, original id, transaction id, product, status, and `upgraded`.
    static let choices = Case.all(
        #"""
        case: by the original id, wherever it stands
        entries: 9 111 119 notes 1; 1 222 229 family 5; 1 420001010101001 333 plus 1
        hear: plus

        case: by the transaction's own id
        entries: 9 111 119 notes 1; 1 222 420001010101001 plus 2
        hear: plus

        case: by the group of the known product
        entries: 9 111 119 notes 1; 1 222 229 plus 2; 1 333 339 max 1
        hear: max

        case: not simply the first
        entries: 9 111 119 notes 1
        hear: doubt

        case: the running one of two copies
        entries: 1 420001010101001 1 old 2; 1 420001010101001 2 new 1
        hear: new

        case: another of the group that runs is taken when its own has ended
        entries: 1 420001010101001 1 plus 2; 1 222 2 family 1
        hear: family

        case: another of the group that has ended is not
        entries: 1 420001010101001 1 plus 2; 1 222 2 family 2
        hear: plus

        case: what has been upgraded gives way to what runs in its group
        entries: 9 111 119 notes 1; 1 420001010101001 1 plus 2 upgraded; 1 222 2 max 1
        hear: max
        """#)

    @Test(arguments: choices)
    func choosesTheSubscriptionThatWasAskedAbout(_ row: Case) async throws {
        let entries = try (row["entries"] ?? "").split(separator: ";").map { text in
            let words = text.split(separator: " ").map(String.init)
            let upgraded = words.count > 5 ? #","isUpgraded":true"# : ""
            let expires = words[4] == "1" ? 1_776_417_300_000 : 1_773_937_200_000
            let change = #"""
                {"subscriptionGroupIdentifier":"\#(words[0])",
                "originalTransactionId":"\#(words[1])",
                "transactionId":"\#(words[2])","productId":"\#(words[3])",
                "expiresDate":\#(expires)\#(upgraded)}
                """#
            return try AppleFixture.entry(
                try #require(Int(words[4])), transaction: merged(Self.transaction, change),
                renewal: merged(Self.renewal, #"{"originalTransactionId":"\#(words[1])"}"#),
                original: words[1])
        }
        let answer = try await AppleFixture.read(AppleFixture.answer(entries))
        switch answer {
        case .verdict(let observation):
            #expect(observation.items.map(\.names) == [[ProductID(row["hear"] ?? "")]])
        case .doubt, .contested:
            #expect(row["hear"] == "doubt")
        case .failure(let failure):
            Issue.record("\(failure)")
        }
    }
}
