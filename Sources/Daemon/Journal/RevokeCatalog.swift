extension CatalogEntry {
    /// Access was taken away.
    static let revokes = entries(
        """
        == revoke_expired f8fb8a6abefdd1bccc83c8694c063e8e
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: expired
        @RENEWALD_STORE@ says that the paid period of @RENEWALD_PRODUCT@ is over, and gives no
        other cause.

        No action needed. "renewald check" asks the store about the user again, now.
        == revoke_cancelled d7dc9cb3d8909ca9d9f203ec023c1f99
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: cancelled
        The user had turned renewal off, and the paid period has run out.

        No action needed.
        == revoke_payment_failed 5561da72fcdefff8ff3ec2efa24cfd40
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: payment failed
        @RENEWALD_STORE@ could not collect the payment. The store goes on trying for a while;
        access is given back when the payment arrives.

        No action needed. Tell users who ask to update their payment method in the store.
        == revoke_payment_pending 41336ecb6e1cf9f9ba70283fe7b051c9
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: payment is pending
        Payment has failed, and [policy] grace or payment_pending is "revoke", so access does
        not go on while the store tries again.

        No action needed. With "keep" such users would keep access.
        == revoke_refunded 049edc9ba8441f4022c805c7945c3e5d
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: refunded
        @RENEWALD_STORE@ has given the money back, or the payment was charged back.

        No action needed. Many refunds at once deserve a look at the store's console.
        == revoke_family_removed 44edacd82c33e455d0e53ea766390018
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: no longer shared by the family
        A family shared the purchase with the user, and no longer does.

        No action needed.
        == revoke_paused 68164fe6a859e5d9a93d43b0d93a062b
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: paused
        The user has paused the subscription. Access comes back when it is resumed.

        No action needed.
        == revoke_price_increase_declined 4826cfa2799cf7281107e86515d33506
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: the new price was not accepted
        The store ended the subscription because the user did not agree to a higher price.

        No action needed.
        == revoke_product_unavailable f41a3696c5c53a007119bbd275507cca
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: the product is not sold any more
        The store could not renew because @RENEWALD_PRODUCT@ was not available.

        Unless the product was taken from sale on purpose, look at it in the store's console.
        == revoke_product_changed ddc22c87068f46692fb144fc0e18a9ec
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: another product
        The user changed to a product that does not grant it, or its [[product]] no longer gives
        it.

        If the product should grant it, add the entitlement to its [[product]], reload, look at
        "renewald what-if" and run "renewald apply".
        == revoke_transferred f39ba3b297998cce463f8d2ffce95b8c
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: moved to another user
        The purchase belongs to another user now: the app named that user to the store, they
        continued or renewed it, or [policy] shared = "move" gave it to them.

        If this happens often, look for users who share a store account.
        == revoke_manual ccd8c20baadc929d7ecc9b7bf71027c0
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: by hand
        A person has taken access away.

        No action needed.
        == revoke_invalid 2b9a6151312c53a5b7b7559dd412b9dc
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: the store does not know the purchase
        @RENEWALD_STORE@ has said twice, [safety] confirm_after apart, that there is no such
        purchase. renewald asks again daily for a week, and gives access back if the store
        accepts it again.

        A single one is a forged or foreign receipt. Many at once point to wrong credentials or
        a wrong app id: run "renewald doctor".
        == revoke_unverifiable 03acb999d758c402af9fed1199c8372d
        @RENEWALD_USER@ has lost @RENEWALD_ENTITLEMENT@: no answer for too long
        The paid time is over, and the store has given no verdict for longer than [safety]
        max_staleness.

        Find out why the checks fail: "renewald status" shows the problems by code. Access comes
        back with the next good answer.
        """)
}
