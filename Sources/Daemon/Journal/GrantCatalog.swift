extension CatalogEntry {
    /// Access was given.
    static let grants = entries(
        """
        == grant_purchased bbf41c8be36a5a5610ca859ebe0a49d3
        @RENEWALD_USER@ has @RENEWALD_ENTITLEMENT@ now: bought
        A first purchase of @RENEWALD_PRODUCT@ in @RENEWALD_STORE@ was found valid, so access
        was given.

        No action needed.
        == grant_resubscribed 9a9e66aea44281245d59cc3c29799c29
        @RENEWALD_USER@ has @RENEWALD_ENTITLEMENT@ again: resubscribed
        A subscription that had lapsed is in force again, by the same purchase or a new one.

        No action needed.
        == grant_recovered 7bb3e75fd6a10c6e922ba2b8f706d3ea
        @RENEWALD_USER@ has @RENEWALD_ENTITLEMENT@ again: the payment has arrived
        The payment that had failed has arrived, after access was taken away.

        No action needed.
        == grant_resumed 00b59853008413fd13a3fa6c762aa4b3
        @RENEWALD_USER@ has @RENEWALD_ENTITLEMENT@ again: resumed after a pause
        The user or the store has resumed a paused subscription.

        No action needed.
        == grant_refund_reversed 2350cd67d2a858ac3255449789260a45
        @RENEWALD_USER@ has @RENEWALD_ENTITLEMENT@ again: a refund was reversed
        @RENEWALD_STORE@ has taken back a refund, so the purchase counts again.

        No action needed.
        == grant_transferred 847e5412a9cfa36ae0237b9c830c6db9
        @RENEWALD_USER@ has @RENEWALD_ENTITLEMENT@ now: moved from another user
        A purchase that another user had belongs to this one now: the app named them to the
        store, they continued or renewed it, or [policy] shared = "move" gave it to them. The
        other user has lost it in the same transaction.

        If this happens often, look for users who share a store account.
        == grant_manual b94a54c9485994c8d258e4588665c513
        @RENEWALD_USER@ has @RENEWALD_ENTITLEMENT@ now: by hand
        The duration of the product in the configuration was changed, and the purchase is in force
        again by it.

        No action needed.
        == grant_product_changed 37940ae561cd0195fabd7cd04c74b3da
        @RENEWALD_USER@ has @RENEWALD_ENTITLEMENT@ now: another product
        The subscription was changed to @RENEWALD_PRODUCT@, which grants what the former product
        did not.

        No action needed.
        == grant_restored 63cac2fdca924ae796d0edaa892c1777
        @RENEWALD_USER@ has @RENEWALD_ENTITLEMENT@ again: the store accepts the purchase again
        Access had ended because the store did not know the purchase or could not be asked for
        too long. It answers again, and the purchase is in force.

        Many at once mean that the store has had an outage: tell users who asked.
        """)
}
