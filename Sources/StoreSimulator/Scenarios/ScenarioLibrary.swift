/// The scenarios that come with the simulator, named after what they show.
package enum ScenarioLibrary {
    /// The texts by name.
    package static let texts: [String: String] = Dictionary(
        uniqueKeysWithValues: [everyday, payments, givenBack, changes, products, troubles].flatMap {
            $0.map { ($0.name, $0.text) }
        })

    /// In alphabetical order.
    package static let names = texts.keys.sorted()

    private typealias Entry = (name: String, text: String)

    private static let everyday: [Entry] = [
        (
            "renews-month-after-month",
            """
            title A subscription without any trouble, for a year
            on day 0: buy pro.monthly every P1M
            on day 15: expect active
            on day 100: expect active
            on day 365: expect active
            """
        ),
        (
            "trial-converts-to-paid",
            """
            title A free week, then months that are paid for
            on day 0: buy pro.monthly every P1M trial P7D
            on day 3: expect access
            on day 8: expect active
            on day 60: expect active
            """
        ),
        (
            "trial-cancelled-never-pays",
            """
            title Cancelled on the second day of a free week: access until the week ends
            on day 0: buy pro.monthly every P1M trial P7D
            on day 2: cancels
            on day 6: expect access
            on day 8: expect expired
            """
        ),
        (
            "cancels-and-keeps-the-paid-time",
            """
            title Cancelled in the middle of a month: access until its end
            on day 0: buy pro.monthly every P4W
            on day 10: cancels
            on day 27: expect access
            on day 29: expect no access
            on day 29: expect expired
            """
        ),
        (
            "cancels-and-changes-mind",
            """
            title Renewal switched off and on again before the period ends
            on day 0: buy pro.monthly every P4W
            on day 10: cancels
            on day 20: uncancels
            on day 40: expect active
            """
        ),
        (
            "comes-back-after-expiry",
            """
            title Expired, and bought again under the same original transaction
            stores apple
            on day 0: buy pro.monthly every P4W
            on day 5: cancels
            on day 30: expect expired
            on day 50: renews
            on day 60: expect active
            """
        ),
    ]

    private static let payments: [Entry] = [
        (
            "payment-fails-and-recovers-in-grace",
            """
            title A card that expired is replaced while access goes on
            on day 0: buy pro.monthly every P4W grace P6D
            on day 20: payment fails
            on day 30: expect grace
            on day 30: expect access
            on day 32: payment works
            on day 33: expect active
            """
        ),
        (
            "payment-fails-and-recovers-in-hold",
            """
            title Access ends with grace and comes back with a new card
            stores apple google
            on day 0: buy pro.monthly every P4W grace P3D hold P30D
            on day 20: payment fails
            on day 35: expect hold
            on day 35: expect no access
            on day 40: payment works
            on day 41: expect active
            """
        ),
        (
            "payment-fails-for-good",
            """
            title Nobody replaces the card: grace, hold where there is one, and the end
            on day 0: buy pro.monthly every P4W grace P6D
            on day 20: payment fails
            on day 30: expect access
            on day 40: expect no access
            on day 120: expect payment_failed
            """
        ),
        (
            "payment-fails-without-grace",
            """
            title An app without a grace period
            stores apple google
            on day 0: buy pro.monthly every P4W grace PT0S
            on day 20: payment fails
            on day 30: expect hold
            on day 30: expect no access
            """
        ),
        (
            "silent-day-before-grace",
            """
            title Google says nothing for a day after a charge has failed
            stores google
            on day 0: buy pro.monthly every P4W grace P6D
            on day 20: payment fails
            on day 28 at 12:00: expect silent
            on day 28 at 12:00: expect access
            on day 29 at 12:00: expect grace
            """
        ),
        (
            "pending-payment-arrives",
            """
            title Paid in cash two days later
            stores google
            on day 0: buy pro.monthly every P1M pending
            on day 1: expect pending
            on day 1: expect no access
            on day 2: payment arrives
            on day 3: expect active
            """
        ),
        (
            "pending-payment-never-arrives",
            """
            title Nobody comes to pay
            stores google
            on day 0: buy pro.monthly every P1M pending
            on day 3: payment abandoned
            on day 4: expect no access
            """
        ),
    ]

    private static let givenBack: [Entry] = [
        (
            "refunded-and-loses-access",
            """
            title The newest charge is given back
            on day 0: buy pro.monthly every P4W
            on day 30: refunded
            on day 31: expect refunded
            on day 31: expect no access
            """
        ),
        (
            "refund-reversed-gives-access-back",
            """
            title A refund that is taken back within the paid time
            stores apple
            on day 0: buy pro.monthly every P4W
            on day 5: refunded
            on day 6: expect no access
            on day 10: refund reversed
            on day 11: expect access
            """
        ),
        (
            "earlier-period-refunded-keeps-access",
            """
            title The month before is given back; the present one stays paid
            on day 0: buy pro.monthly every P4W
            on day 35: earlier period refunded
            on day 36: expect active
            """
        ),
        (
            "revoked-by-the-store",
            """
            title Family sharing ended, or the developer or customer service took access away
            on day 0: buy pro.monthly every P4W
            on day 12: revoked
            on day 13: expect revoked
            on day 13: expect no access
            """
        ),
    ]

    private static let changes: [Entry] = [
        (
            "upgrades-in-place",
            """
            title A better product at once, in the same subscription
            stores apple
            on day 0: buy pro.monthly every P4W
            on day 10: changes to max.monthly
            on day 11: expect active
            on day 60: expect active
            """
        ),
        (
            "downgrades-at-renewal",
            """
            title A smaller product from the next renewal on
            stores apple
            on day 0: buy max.monthly every P4W
            on day 10: changes to pro.monthly at renewal
            on day 40: expect active
            """
        ),
        (
            "replaced-by-a-new-token",
            """
            title Another product gives another purchase token; the old one is replaced
            stores google
            on day 0: buy pro.monthly every P4W
            on day 10: changes to max.monthly
            on day 11: expect active
            """
        ),
        (
            "pauses-and-resumes",
            """
            title Paused for a month at the end of the paid time
            stores google
            on day 0: buy pro.monthly every P4W
            on day 10: pauses for P30D
            on day 27: expect active
            on day 30: expect paused
            on day 30: expect no access
            on day 60: expect active
            """
        ),
    ]

    private static let products: [Entry] = [
        (
            "lifetime-purchase",
            """
            title Bought once, for ever
            on day 0: buy lifetime kind non_consumable
            on day 1000: expect access
            """
        ),
        (
            "consumable-is-no-entitlement",
            """
            title Coins are used up, not owned
            on day 0: buy coins kind consumable
            on day 1: expect no access
            """
        ),
        (
            "non-renewing-ends-untold",
            """
            title Ends after its period, which Apple's answers do not tell
            stores apple
            on day 0: buy season kind non_renewing every P3M
            on day 80: expect access
            on day 100: expect no access
            """
        ),
        (
            "two-subscriptions-of-one-user",
            """
            title One is cancelled, the other goes on
            on day 0: buy pro.monthly as pro every P4W user 9f0c1d5e-0000-4000-8000-000000000001
            on day 2: buy news.yearly as news every P1Y user 9f0c1d5e-0000-4000-8000-000000000001
            on day 10: [pro] cancels
            on day 40: [pro] expect expired
            on day 40: [news] expect active
            """
        ),
    ]

    private static let troubles: [Entry] = [
        (
            "store-down-at-renewal",
            """
            title The store fails for two days around a renewal: nobody may lose access
            on day 0: buy pro.monthly every P4W
            on day 27: fault status status 503 for P2D
            on day 28: expect access
            on day 30: expect active
            """
        ),
        (
            "old-answers-after-a-renewal",
            """
            title For a day the store tells what was true two days ago
            on day 0: buy pro.monthly every P4W
            on day 28: fault stale age P2D for P1D
            on day 29: expect active
            """
        ),
        (
            "slow-and-throttled-for-a-week",
            """
            title A store under load: late answers, a tenth of them "too many requests"
            on day 0: buy pro.monthly every P4W
            on day 7: fault throttle share 0.1 retry_after 30 for P1W
            on day 7: fault slow latency "lognormal 200 3000" for P1W
            on day 14: expect active
            """
        ),
        (
            "token-endpoint-down-for-an-hour",
            """
            title Google gives no access tokens; what is bought stays bought
            stores google
            on day 0: buy pro.monthly every P4W
            on day 3: fault token_down for PT1H
            on day 4: expect active
            """
        ),
    ]
}
