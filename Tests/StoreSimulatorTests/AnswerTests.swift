import Foundation
import Testing

@testable import StoreSimulator

/// What a purchase made on day 0 of the test calendar is answered with, as pure functions.
struct Scene {
    static func purchase(
        _ store: StoreName, _ deeds: String, user: String? = nil, trial: Period? = nil,
        isPending: Bool = false, replaces: String? = nil
    ) throws -> Purchase {
        let terms = Terms(
            store: store, period: Period(months: 1), trial: trial, grace: .days(6),
            hold: store == .amazon ? nil : .days(30), isPending: isPending)
        var ids = Seeded(seed: 7)
        return Purchase(
            number: 1, buyer: Purchase.Buyer(app: "com.example.reader", user: user),
            timeline: try Days.timeline(store, deeds, terms), replaces: replaces, ids: &ids)
    }

    /// `a.b[].c` for every member of a JSON value, sorted.
    static func members(_ value: Any, _ prefix: String = "") -> [String] {
        if let object = value as? [String: Any] {
            if object.isEmpty { return [prefix + "{}"] }
            return object.keys.sorted().flatMap { key in
                members(object[key] ?? "", prefix.isEmpty ? key : prefix + "." + key)
            }
        }
        if let list = value as? [Any] {
            return list.flatMap { members($0, prefix + "[]") }
        }
        return [prefix]
    }
}

@Suite("Google's answers")
struct GoogleAnswerTests {
    /// `expiry` in days; `paid` and `latest` are the suffixes of the two orders (`-` is the base).
    static let table = rows(
        """
        deeds                        day    state                      expiry  paid  latest  renews
        -                            5      ACTIVE                     31      -     -       yes
        -                            40     ACTIVE                     59      ..0   ..0     yes
        -                            65     ACTIVE                     90      ..1   ..1     yes
        failPayment@5                31.5   ACTIVE                     32      -     ..0     yes
        failPayment@5                32     IN_GRACE_PERIOD            33      -     ..0     yes
        failPayment@5                33.5   IN_GRACE_PERIOD            34      -     ..0     yes
        failPayment@5                37.9   IN_GRACE_PERIOD            38      -     ..0     yes
        failPayment@5                38     ON_HOLD                    31      -     ..0     yes
        failPayment@5                68     CANCELED                   31      -     ..0     no
        failPayment@5                69     EXPIRED                    31      -     ..0     no
        failPayment@5 fixPayment@35  35     ACTIVE                     59      ..0   ..0     yes
        failPayment@5 fixPayment@41  41     ACTIVE                     69      ..0   ..0     yes
        cancel@5                     6      CANCELED                   31      -     -       no
        cancel@5                     31     EXPIRED                    31      -     -       no
        pause@5                      31     PAUSED                     31      -     -       yes
        refund@5                     6      EXPIRED                    5       -     -       no
        revoke@5                     6      EXPIRED                    5       -     -       no
        replaced@5                   6      EXPIRED                    5       -     -       no
        """)

    @Test("tell state, expiry and orders as the table says", arguments: table)
    func tellsState(_ row: [String]) throws {
        let purchase = try Scene.purchase(.google, row[0])
        let now = Days.instant(try #require(Double(row[1])))
        let answer = Google.subscription(purchase, purchase.timeline.life(at: now), at: now).object
        let item = try #require((answer["lineItems"] as? [[String: Any]])?.first)
        let expiry = try #require(Instant(text: item["expiryTime"] as? String ?? ""))
        let plan = item["autoRenewingPlan"] as? [String: Any]
        let suffix = { (order: Any?) in
            (order as? String ?? "?") == purchase.order
                ? "-" : (order as? String ?? "?").dropFirst(purchase.order.count)
        }
        #expect(answer["subscriptionState"] as? String == "SUBSCRIPTION_STATE_" + row[2])
        #expect(Days.day(expiry) == Double(row[3]))
        #expect(suffix(item["latestSuccessfulOrderId"]) == row[4])
        #expect(suffix(answer["latestOrderId"]) == row[5])
        #expect((plan?["autoRenewEnabled"] as? Bool ?? false) == (row[6] == "yes"))
    }

    private static let common =
        "acknowledgementState etag kind latestOrderId regionCode startTime subscriptionState "
    private static let item =
        "lineItems[].expiryTime lineItems[].latestSuccessfulOrderId "
        + "lineItems[].offerDetails.basePlanId lineItems[].productId "
        + "lineItems[].autoRenewingPlan.recurringPrice.currencyCode "
        + "lineItems[].autoRenewingPlan.recurringPrice.nanos "
        + "lineItems[].autoRenewingPlan.recurringPrice.units lineItems[].offerPhase.basePrice{} "
    private static let renewing = item + "lineItems[].autoRenewingPlan.autoRenewEnabled "

    /// Members beside the common ones.
    static let shapes: [(deeds: String, day: Double, members: String)] = [
        ("-", 5, renewing),
        (
            "failPayment@5", 33,
            renewing + "inGracePeriodStateContext.renewalDeclined.pendingOrderId"
        ),
        ("failPayment@5", 40, renewing + "onHoldStateContext.renewalDeclined.pendingOrderId"),
        ("pause@5", 32, renewing + "pausedStateContext.autoResumeTime"),
        ("failPayment@5", 70, item + "canceledStateContext.systemInitiatedCancellation{}"),
        ("refund@5", 6, item + "canceledStateContext.developerInitiatedCancellation{}"),
        ("replaced@5", 6, item + "canceledStateContext.replacementCancellation{}"),
        (
            "cancel@5", 6, item + "canceledStateContext.userInitiatedCancellation.cancelTime"
        ),
    ]

    @Test("have the members of each state and no other", arguments: shapes)
    func hasTheMembers(_ shape: (deeds: String, day: Double, members: String)) throws {
        let purchase = try Scene.purchase(.google, shape.deeds)
        let now = Days.instant(shape.day)
        let answer = Google.subscription(purchase, purchase.timeline.life(at: now), at: now).object
        let expected = (Self.common + shape.members).split(separator: " ").map(String.init)
        #expect(Scene.members(answer).sorted() == expected.sorted())
    }

    @Test("of a pending purchase have neither a start nor an expiry nor a paid order")
    func isPending() throws {
        let purchase = try Scene.purchase(.google, "-", isPending: true)
        let now = Days.instant(1)
        let answer = Google.subscription(purchase, purchase.timeline.life(at: now), at: now).object
        #expect(answer["subscriptionState"] as? String == "SUBSCRIPTION_STATE_PENDING")
        let members = Scene.members(answer)
        for absent in ["startTime", "lineItems[].expiryTime"] {
            #expect(!members.contains(absent))
        }
        #expect(!members.contains("lineItems[].latestSuccessfulOrderId"))
    }

    @Test("link to the token that was replaced, and name the account and the trial")
    func tellsTheRest() throws {
        let purchase = try Scene.purchase(
            .google, "-", user: "u-1", trial: .days(7), replaces: "old.token")
        let now = Days.instant(1)
        let answer = Google.subscription(purchase, purchase.timeline.life(at: now), at: now).object
        #expect(answer["linkedPurchaseToken"] as? String == "old.token")
        let account = answer["externalAccountIdentifiers"] as? [String: String]
        #expect(account?["obfuscatedExternalAccountId"] == "u-1")
        #expect(Scene.members(answer).contains("lineItems[].offerPhase.freeTrial{}"))
    }

    @Test("are gone sixty days after the end")
    func isGone() throws {
        let purchase = try Scene.purchase(.google, "cancel@5")
        #expect(!Google.isGone(purchase.timeline.life(at: Days.instant(91)), at: Days.instant(91)))
        let later = Days.instant(91.1)
        #expect(Google.isGone(purchase.timeline.life(at: later), at: later))
    }
}

@Suite("Amazon's answers")
struct AmazonAnswerTests {
    /// Dates in days, `-` for null.
    static let table = rows(
        """
        deeds                        day    auto   renewal  grace  cancel  reason
        -                            5      yes    31       -      -       -
        -                            40     yes    59       -      -       -
        cancel@5                     6      no     -        -      -       -
        cancel@5                     31     no     -        -      31      1
        failPayment@5                31     yes    31       37     -       -
        failPayment@5                37     no     -        -      37      2
        failPayment@5 fixPayment@33  33     yes    59       -      -       -
        refund@5                     6      no     -        -      5       1
        revoke@5                     6      no     -        -      5       2
        replaced@5                   6      no     -        -      5       4
        """)

    @Test("tell the dates as the table says", arguments: table)
    func tellsDates(_ row: [String]) throws {
        let purchase = try Scene.purchase(.amazon, row[0])
        let now = Days.instant(try #require(Double(row[1])))
        let answer = Amazon.receipt(purchase, purchase.timeline.life(at: now)).object
        let day = { (key: String) in
            (answer[key] as? Int64).map { Days.day(Instant(milliseconds: $0)) }
        }
        #expect(answer["autoRenewing"] as? Bool == (row[2] == "yes"))
        #expect(day("renewalDate") == Double(row[3]))
        #expect(day("gracePeriodEndDate") == Double(row[4]))
        #expect(day("cancelDate") == Double(row[5]))
        #expect(answer["cancelReason"] as? Int == Int(row[6]))
    }

    @Test("have the members of the published example, absent ones as null")
    func hasTheMembers() throws {
        let purchase = try Scene.purchase(.amazon, "-")
        let answer = Amazon.receipt(purchase, purchase.timeline.life(at: Days.instant(1))).object
        let members = """
            autoRenewing baseReceipts betaProduct cancelDate cancelReason countryCode deferredDate deferredSku \
            freeTrialEndDate fulfillmentDate fulfillmentResult gracePeriodEndDate parentProductId \
            productId productType promotions purchaseDate purchaseMetadataMap quantity receiptId \
            renewalDate term termSku testTransaction
            """
        #expect(answer.keys.sorted() == members.split(separator: " ").map(String.init))
        #expect(answer["term"] as? String == "1 Month")
    }
}
