extension CatalogEntry {
    /// Something about a purchase that changes no access.
    static let notices = entries(
        """
        == notice_renewed daf6fd9baa9b3e7eda1786728665c06e
        A subscription of @RENEWALD_USER@ was renewed
        A new period of @RENEWALD_PRODUCT@ was paid in @RENEWALD_STORE@.

        No action needed.
        == notice_payment_pending 5e40014fe1aa9fc06cac8ab7757fa606
        A payment of @RENEWALD_USER@ has failed; access goes on
        @RENEWALD_STORE@ keeps access on while it tries to collect. There is one such notice for
        each failed payment.

        No action needed. The app may remind the user to update their payment method.
        == notice_payment_recovered 461947a148526bf0d1108e91df236cc4
        A payment of @RENEWALD_USER@ has arrived late
        The user never lost access.

        No action needed.
        == notice_auto_renew_off d38161530771a6398fb7821fdf04b2b2
        @RENEWALD_USER@ has turned renewal off
        Access goes on to the end of the paid period.

        No action needed.
        == notice_auto_renew_on 3fbba33697de00540e0c7206cc47f38a
        @RENEWALD_USER@ has turned renewal on again
        The subscription will be renewed at the end of the paid period.

        No action needed.
        == notice_pause_scheduled 5fcba330d5f181649164054968569ea4
        @RENEWALD_USER@ will pause
        The subscription is paused at the end of the paid period.

        No action needed.
        == notice_price_increase_pending fe4d323458fafc90e760763c3d24ca87
        @RENEWALD_USER@ has not agreed to a higher price yet
        The store waits for the user's consent; without it the subscription ends.

        No action needed.
        == notice_product_change_scheduled cf25261b95348c200c731aa0329be768
        @RENEWALD_USER@ will change the product
        The subscription is changed at its next renewal.

        No action needed.
        == notice_extended 009f0ea7ac5fb070a912742d9ccde37c
        A subscription of @RENEWALD_USER@ was extended
        The store or the developer has moved its end without a payment.

        No action needed.
        == notice_trial_converted 37b020f1e3c3887bbeb58ed9f27f33bf
        A trial of @RENEWALD_USER@ has become a paid subscription
        The first period after the trial was paid.

        No action needed.
        == notice_refund_of_past_period 12b592cb0369ff2d17581b20f3ddb616
        An older period of @RENEWALD_USER@ was refunded
        The running period is paid, so access goes on.

        No action needed.
        == notice_refunded e0ce7262560b572ce925b2583323e480
        A refund for @RENEWALD_USER@ ends no access
        It was a consumable, its access had ended before, or only a part was given back (the event's
        detail says so).

        If the app has delivered coins or the like for it, take them back.
        == notice_unacknowledged f08d0e57d3e9b4daaaf61038d68b64c3
        A purchase of @RENEWALD_USER@ is not acknowledged
        Google refunds a purchase that was not acknowledged within three days; Amazon cancels one
        that was not fulfilled within 14.

        Check that the app or its backend acknowledges purchases (Amazon: notifyFulfillment). This
        one is a day old, or with Amazon ten days.
        == notice_shared_receipt 9f29605fce7b4481191ff9f9e03430ac
        A purchase of @RENEWALD_USER@ was submitted for another user too
        The app's own account token, or else [policy] shared (keep, move or allow), says who has
        it.

        No action needed unless it happens often.
        == notice_environment_changed a9a26701997bbef569698f62e2c28d4f
        The store answers for a purchase of @RENEWALD_USER@ from another environment
        The store answered for a production purchase from the sandbox, or the other way round.
        Such an answer changes no access.

        Check what the backend submits: it may have submitted a tester's token for a customer.
        == notice_token_ending c54b8f8683e7f6fd1923c74e62a76b78
        Google will soon forget the token of a purchase of @RENEWALD_USER@
        Google forgets a token sixty days after its end.

        No action needed.
        == notice_migrated 14dda94a1fd472df7353db5c2f2dc93e
        A legacy receipt of @RENEWALD_USER@ is asked about by its transaction id now
        Apple's newer API is used from now on for this purchase.

        No action needed.
        == notice_refund_requested 5661a39bf9f4bad89f41f8a7e2117dc8
        @RENEWALD_STORE@ asks what to do about a refund in @RENEWALD_APP@
        A customer wants their money back, and the store asks what the app knows and wants. The
        line names the request, a row of renewald.refund_requests, and the deadline. Access does
        not change.

        The app answers with renewald.answer_refund(). "[refunds]" in the configuration may let a
        policy answer. Without an answer the store decides alone.
        == notice_refund_declined 21aa3860b223cad2547f9543ee003693
        @RENEWALD_STORE@ has declined a refund in @RENEWALD_APP@
        The customer does not get their money back. Access does not change.

        No action needed.
        == notice_rejected 021ab98080a2de24ae5cb860764bae23
        The store does not accept a token of @RENEWALD_USER@
        @RENEWALD_STORE@ has refused this token twice. It never gave access.

        Check what the backend submits: the token may be another app's, truncated or forged.
        """)
}
