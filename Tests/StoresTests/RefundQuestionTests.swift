import Curl
import Foundation
import Renewal
import StoreFixtures
import Testing

@testable import Stores

/// What the stores ask about refunds, what came of it, and news that nobody handles.
struct RefundQuestionTests {
    private static let now = AppleFixture.now
    /// What the notifications are signed with.
    private static let signedAt = Timestamp(microsecondsSinceEpoch: 1_774_000_000_000_000)

    /// A notification with its whole payload; `TRANSACTION` stands for a signed one.
    private static func item(
        _ payload: String, by authority: AppleAuthority? = nil, former: String = ""
    ) throws -> String {
        let transaction = try AppleFixture.signed(
            #"{"transactionId":"1002","originalTransactionId":"1001","appAccountToken":"a-b-c"\#(former)}"#
        )
        let whole = payload.replacing("TRANSACTION", with: transaction)
        let text = try (authority ?? AppleAuthority.trusted.get()).sign(Array(whole.utf8))
        return #"{"signedPayload":"\#(text)"}"#
    }

    private static func notification(
        _ type: String, data: String = "", uuid: String = "u", more: String = ""
    ) -> String {
        #"""
        {"notificationType":"\#(type)","notificationUUID":"\#(uuid)","version":"2.0"\#(more),
        "signedDate":1774000000000,"data":{"bundleId":"com.example.reader","appAppleId":1,
        "environment":"Production"\#(data),"signedTransactionInfo":"TRANSACTION"}}
        """#
    }

    private static func read(_ items: [String]) async throws -> HintPage {
        let world = FakeWorld(clock: now) { request async throws(CurlError) in
            request.url.contains("sandbox")
                ? .json(#"{"hasMore":false}"#) : .json(AppleNotificationHistoryTests.page(items))
        }
        return try await AppleNotificationHistoryTests.store(world).hints(after: nil, at: now)
    }

    @Test(arguments: [
        (#","consumptionRequestReason":"UNINTENDED_PURCHASE""#, "UNINTENDED_PURCHASE"),
        (#","consumptionRequestReason":"OF_ANOTHER_AGE""#, "OF_ANOTHER_AGE"),
        (#","consumptionRequestReason":{}"#, nil), ("", nil),
    ])
    func makesAQuestionOfApples(data: String, reason: String?) async throws {
        let page = try await Self.read([
            Self.item(Self.notification("CONSUMPTION_REQUEST", data: data))
        ])
        #expect(
            page.questions == [
                RefundQuestion(
                    id: "question u", originalID: "1001", order: "1002",
                    environment: .production, reason: reason, askedAt: Self.signedAt,
                    answerBy: Self.signedAt + .hours(12), accountToken: "a-b-c")
            ])
        #expect(page.hints.isEmpty && page.unhandled.isEmpty && page.skipped == 0)
    }

    /// A refund is both: a reason to look, and the end of a question. A seat's as well.
    @Test func makesRulingsOfApples() async throws {
        let page = try await Self.read([
            Self.item(Self.notification("REFUND", uuid: "a")),
            Self.item(Self.notification("REFUND_DECLINED", uuid: "b")),
            Self.item(Self.notification("REFUND_REVERSED", uuid: "c")),
            Self.item(Self.notification("REFUND", uuid: "d", more: #","subtype":"SEATS""#)),
        ])
        #expect(page.rulings.map(\.order) == ["1002", "1002", "1002"])
        #expect(page.rulings.map(\.outcome) == [.refunded, .declined, .refunded])
        // It closes no question that was asked after it.
        #expect(page.rulings.allSatisfy { $0.ruledAt != nil })
        #expect(page.hints.map(\.id) == ["a", "c", "d"])
        #expect(page.hints.map(\.clue) == [.refund(of: "1002"), nil, .refund(of: "1002")])
        // Hints, questions and rulings are remembered by their ids, side by side.
        #expect(Set(page.rulings.map(\.id)).isDisjoint(with: page.hints.map(\.id)))
    }

    /// What names no transaction cannot be answered, and is not passed over in silence.
    @Test(arguments: ["CONSUMPTION_REQUEST", "REFUND_DECLINED"])
    func recordsWhatHasNoTransaction(type: String) async throws {
        let payload = Self.notification(type).replacing("TRANSACTION", with: "a.b.c")
        let page = try await Self.read([Self.item(payload)])
        #expect(page.questions.isEmpty && page.rulings.isEmpty && page.skipped == 1)
        #expect(page.unhandled.map(\.type) == ["unreadable"])
    }

    /// Bytes as Apple's pages show them: without a transaction, in a member of their own.
    @Test(arguments: [
        (
            #"{"notificationType":"TEST","notificationUUID":"u","version":"2.0","#
                + #""signedDate":1774000000000,"data":{"bundleId":"com.example.reader","#
                + #""environment":"Production"}}"#, "TEST", true
        ),
        (
            #"{"notificationType":"RESCIND_CONSENT","notificationUUID":"u","version":"2.0","#
                + #""signedDate":1774000000000,"appData":{"appAppleId":41234,"#
                + #""bundleId":"com.example.reader","environment":"Production","#
                + #""signedAppTransactionInfo":"a.b.c"}}"#, "RESCIND_CONSENT", true
        ),
        (
            #"{"notificationType":"EXTERNAL_PURCHASE_TOKEN","subtype":"UNREPORTED","#
                + #""notificationUUID":"u","version":"2.0","signedDate":1774000000000,"#
                + #""externalPurchaseToken":{"externalPurchaseId":"b2","tokenCreationDate":1,"#
                + #""appAppleId":41234,"bundleId":"com.example.reader"}}"#,
            "EXTERNAL_PURCHASE_TOKEN", true
        ),
        (
            #"{"notificationType":"RENEWAL_EXTENSION","subtype":"SUMMARY","#
                + #""notificationUUID":"u","version":"2.0","signedDate":1774000000000,"#
                + #""summary":{"environment":"Production","bundleId":"com.example.reader","#
                + #""productId":"plus","requestIdentifier":"r","succeededCount":5,"#
                + #""failedCount":2}}"#, "RENEWAL_EXTENSION", true
        ),
        (
            #"{"notificationType":"OF_ANOTHER_AGE","notificationUUID":"u","#
                + #""signedDate":1774000000000,"dreams":[1]}"#, "OF_ANOTHER_AGE", false
        ),
        (
            #"{"notificationType":"OF_ANOTHER_AGE","notificationUUID":"u","#
                + #""signedDate":1774000000000,"data":"not an object"}"#, "OF_ANOTHER_AGE", false
        ),
        (#"{"notificationUUID":"u","signedDate":1774000000000}"#, "unreadable", false),
    ])
    func recordsWhatNobodyHandles(payload: String, type: String, isExpected: Bool) async throws {
        let page = try await Self.read([Self.item(payload)])
        #expect(
            page.unhandled == [
                UnhandledNews(id: "unhandled u", type: type, isExpected: isExpected)
            ])
        #expect(page.hints.isEmpty && page.questions.isEmpty && page.skipped == 0)
    }

    /// Without a word about what nobody handles.
    @Test(arguments: [
        "SUBSCRIBED", "DID_RENEW", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS",
        "OFFER_REDEEMED", "EXPIRED", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE",
        "PRICE_CHANGE", "REFUND", "REFUND_REVERSED", "REVOKE", "RENEWAL_EXTENDED",
        "ONE_TIME_CHARGE", "METADATA_UPDATE", "MIGRATION", "UNCLAIM_SEATS",
    ])
    func looksIntoEachChange(type: String) async throws {
        let page = try await Self.read([Self.item(Self.notification(type))])
        #expect(page.hints.map(\.subject) == [.originalID("1001")] && page.unhandled.isEmpty)
    }

    /// News of what Apple has given another name finds the purchase by the former one.
    @Test(arguments: [("MIGRATION", 2), ("REFUND", 2), ("CONSUMPTION_REQUEST", 1)])
    func findsWhatHasAnotherNameNow(type: String, count: Int) async throws {
        let former = #","previousOriginalTransactionId":"900""#
        let page = try await Self.read([Self.item(Self.notification(type), former: former)])
        let clue = type == "REFUND" ? Clue.refund(of: "1002") : nil
        #expect(page.hints.count == count)
        #expect(
            page.hints.last
                == Hint(
                    id: "u former", subject: .originalID("900"), clue: clue, accountToken: "a-b-c"))
        let same = #","previousOriginalTransactionId":"1001""#
        let unnamed = try await Self.read([Self.item(Self.notification(type), former: same)])
        #expect(unnamed.hints.count == count - 1)
    }

    /// A type that is not known may be about a purchase all the same.
    @Test func looksIntoThePurchaseOfAnUnknownType() async throws {
        let page = try await Self.read([Self.item(Self.notification("OF_ANOTHER_AGE"))])
        #expect(
            page.hints == [
                Hint(id: "u", subject: .originalID("1001"), accountToken: "a-b-c")
            ])
        #expect(page.unhandled.map(\.type) == ["OF_ANOTHER_AGE"])
    }

    /// A forgery is recorded, and never takes the place of the real one.
    @Test func asksNothingForAForger() async throws {
        let question = Self.notification("CONSUMPTION_REQUEST")
        let page = try await Self.read([
            Self.item(question, by: AppleAuthority()), Self.item(question),
        ])
        #expect(page.questions.map(\.id) == ["question u"])
        #expect(page.unhandled.map(\.type) == ["unreadable"] && page.skipped == 1)
    }

    @Test(arguments: [
        ("REFUND", "REFUND"), ("", "unreadable"), ("a\u{0}b\nc", "a?b?c"), ("é", "?"),
        (String(repeating: "X", count: 100_000), String(repeating: "X", count: 64)),
    ])
    func keepsTypesShortAndPrintable(type: String, kept: String) {
        #expect(UnhandledNews(id: "u", type: type, isExpected: false).type == kept)
    }
}

/// The same from Google: messages of Pub/Sub and the list of voided purchases.
struct GoogleRefundQuestionTests {
    private static let now = GoogleFixture.now
    private static let app = #""packageName":"com.example.reader""#

    private static func read(_ data: String, publishTime: String? = nil) async throws -> HintPage {
        let text = Data(data.utf8).base64EncodedString()
        let published = publishTime.map { #","publishTime":"\#($0)""# } ?? ""
        let world = GoogleFixture.world { _ in
            .json(
                #"{"receivedMessages":[{"ackId":"r","message":{"data":"\#(text)","#
                    + #""messageId":"77"\#(published)}}]}"#)
        }
        return try await GoogleFixture.pubsub(world).pull(isWaiting: false, at: now)
    }

    /// Now is 1771588800000; the first is the reference's own example.
    @Test(arguments: [
        (#""1771588740000""#, nil, -60), ("1771588740000", nil, -60),
        (#""1771588740000""#, "2026-02-20T11:50:00Z", -60), ("{}", "2026-02-20T11:50:00Z", -600),
        (#""1999999999999""#, nil, 0), ("null", nil, 0), ("null", "nonsense", 0),
    ])
    func makesAQuestionOfGoogles(event: String, published: String?, seconds: Int) async throws {
        let page = try await Self.read(
            #"{"version":"1.0",\#(Self.app),"eventTimeMillis":\#(event),"#
                + #""pendingRefundReviewNotification":{"version":"1.0","#
                + #""pendingRefundToken":"prt-0001","orderId":"GPA.3341-0099-8181-60606..3","#
                + #""refundReason":7,"obfuscatedAccountId":"acct","more":[]}}"#,
            publishTime: published)
        let askedAt = Self.now + .seconds(seconds)
        #expect(
            page.questions == [
                RefundQuestion(
                    id: "google question 77", originalID: "GPA.3341-0099-8181-60606",
                    order: "GPA.3341-0099-8181-60606..3", environment: .production,
                    token: "prt-0001", reason: "7", askedAt: askedAt,
                    answerBy: askedAt + .hours(24), accountToken: "acct")
            ])
        #expect(page.hints.isEmpty && page.unhandled.isEmpty && page.skipped == 0)
    }

    @Test(arguments: [
        #"{"orderId":"GPA.1"}"#, #"{"pendingRefundToken":"p"}"#, "{}", #""x""#,
        #"{"pendingRefundToken":"","orderId":"GPA.1"}"#,
        #"{"pendingRefundToken":"p","orderId":""}"#, #"{"pendingRefundToken":5,"orderId":"G"}"#,
    ])
    func recordsAQuestionThatCannotBeAnswered(content: String) async throws {
        let page = try await Self.read(
            #"{\#(Self.app),"pendingRefundReviewNotification":\#(content)}"#)
        #expect(page.questions.isEmpty && page.receipts == ["r"])
        #expect(page.unhandled.map(\.type) == ["pendingRefundReviewNotification"])
        #expect(page.unhandled.allSatisfy { !$0.isExpected })
    }

    @Test(arguments: [
        (#""orderId":"GPA.1","refundType":1"#, true), (#""orderId":"GPA.1""#, true),
        (#""orderId":"GPA.1","refundType":2"#, false), (#""refundType":1"#, false),
        (#""orderId":"GPA.1","refundType":3"#, false),
    ])
    func makesARulingOfAVoid(content: String, isRuling: Bool) async throws {
        let page = try await Self.read(
            #"{\#(Self.app),"voidedPurchaseNotification":{"purchaseToken":"c",\#(content)}}"#)
        let ruling = RefundRuling(id: "google ruling 77", order: "GPA.1", outcome: .refunded)
        #expect(page.rulings == (isRuling ? [ruling] : []))
        #expect(page.hints.map(\.id) == ["google notification 77"])
    }

    @Test func makesRulingsOfTheListOfVoids() async throws {
        let world = GoogleFixture.world { _ in
            .json(
                #"{"voidedPurchases":[{"purchaseToken":"a","orderId":"GPA.1..0","#
                    + #""voidedTimeMillis":"5"},{"purchaseToken":"b","orderId":"GPA.2","#
                    + #""voidedQuantity":2},{"purchaseToken":"c"},{"orderId":"GPA.4"}]}"#)
        }
        let page = try await GoogleFixture.store(world).voidedHints(after: nil, at: Self.now)
        #expect(page.rulings.map(\.order) == ["GPA.1..0", "GPA.4"])
        #expect(page.hints.count == 3)
        #expect(Set(page.rulings.map(\.id)).isDisjoint(with: page.hints.map(\.id)))
    }

    @Test(arguments: [
        (#""testNotification":{"version":"1.0"}"#, "testNotification", true, false),
        (#""dreamNotification":{}"#, "dreamNotification", false, false),
        (#""dreamNotification":[1]"#, "dreamNotification", false, false),
        (
            #""dreamNotification":{"purchaseToken":"a"}"#, "dreamNotification", false, true
        ),
        (
            #""subscriptionNotification":{"purchaseToken":"a","notificationType":2100}"#,
            "subscriptionNotification 2100", false, true
        ),
        (
            #""oneTimeProductNotification":{"purchaseToken":"a","notificationType":9}"#,
            "oneTimeProductNotification 9", false, true
        ),
    ])
    func recordsWhatNobodyHandles(
        content: String, type: String, isExpected: Bool, isHint: Bool
    ) async throws {
        let page = try await Self.read("{\(Self.app),\"region\":\"x\",\(content)}")
        #expect(
            page.unhandled == [
                UnhandledNews(
                    id: "google unhandled 77 0", type: type, isExpected: isExpected)
            ])
        #expect(page.hints.count == (isHint ? 1 : 0) && page.skipped == 0)
    }

    @Test(arguments: Set(1...13).union([17, 18, 19, 20, 22]))
    func handlesAllTypesOfTheReference(type: Int) async throws {
        let page = try await Self.read(
            #"{\#(Self.app),"subscriptionNotification":{"purchaseToken":"a","#
                + #""notificationType":\#(type)}}"#)
        #expect(page.hints.count == 1 && page.unhandled.isEmpty)
    }

    @Test(arguments: [
        "<html>", "{}", #"{"packageName":"com.example.other","testNotification":{}}"#,
        #"{"packageName":"com.example.reader"}"#,
        #"{"packageName":"com.example.reader","subscriptionNotification":{}}"#,
    ])
    func recordsWhatCannotBeRead(data: String) async throws {
        let page = try await Self.read(data)
        #expect(page.skipped == 1 && page.receipts == ["r"])
        #expect(
            page.unhandled == [
                UnhandledNews(
                    id: "google unhandled 77", type: "unreadable", isExpected: false)
            ])
    }
}
