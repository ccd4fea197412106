extension CatalogEntry {
    /// A purchase that could not be judged: access stays as it is.
    static let problems = entries(
        """
        == problem_unreachable ec3587779127add687acb5fa1cb47f13
        A purchase could not be checked: @RENEWALD_STORE@ gave no usable reply
        The network or TLS failed, the call timed out, or the store sent a 5xx status. Access
        stays as it is; renewald retries with backoff.

        No action needed unless it lasts: then check the store's status page and the network.
        == problem_throttled adface8eb9bbe41cc913635b0983237d
        A purchase could not be checked: @RENEWALD_STORE@ asked for fewer calls
        Access stays as it is; calls continue when the store allows.

        If it lasts, lower requests_per_second in [store.@RENEWALD_STORE@], or find out who else
        uses the quota.
        == problem_refused 2ee38700351b4c4e81bab2c032d6532f
        A purchase could not be checked: @RENEWALD_STORE@ refuses our credentials
        Access stays as it is, but no purchase of app @RENEWALD_APP@ can be checked until a person
        fixes this.

        Run "renewald doctor": it makes one call for each app and says what is wrong with its
        key.
        == problem_malformed e45c77944d960c97cd8a856a176b3088
        A purchase could not be checked: the reply of @RENEWALD_STORE@ could not be read
        The reply was cut, was no JSON, or lacked a field. Access stays as it is.

        If it lasts, the store has changed its format, or a proxy changes its replies.
        == problem_signature 7905d9a405db30e047c233f3d01bd608
        A purchase could not be checked: a signature is not valid
        The reply was not signed by the store's authority. Access stays as it is.

        Check [store.apple] root_certificate, and that no proxy intercepts TLS.
        == problem_mismatch 185c0dba100ccb0cc9655e40d7ed2ceb
        A purchase could not be checked: the reply is about something else
        The reply names another purchase, app or environment. Access stays as it is.

        Check that the backend submits the app under the right id.
        == problem_rejected 8d024541dcaee4cdef2a7363b4f7fe92
        A purchase could not be checked: @RENEWALD_STORE@ does not accept its token
        The token belongs to another app, or was damaged on its way. A user who has access
        keeps it.

        Check what the backend submits for this purchase.
        == problem_not_found 94253f28e02eebd1360d438a40b4d448
        @RENEWALD_STORE@ does not know a purchase
        One such answer proves nothing; it is asked again.

        No action needed. If many purchases say so, run "renewald doctor".
        == problem_second_opinion 9ef56af2a169103fe77f3c2bf445f575
        Bad news about a purchase awaits confirmation
        @RENEWALD_STORE@ says that the purchase is gone. Access continues until the store says so
        again.

        No action needed.
        == problem_unsupported af3eec7fc9a1f6ac8b3b080a4974b6ad
        A purchase cannot be checked in full
        The configuration lacks an app, a credential or a duration, or renewald does not support
        this kind of token. The line says which.

        Add what is missing to the configuration and reload.
        == problem_unacknowledged 58615a31bf128902e80949a36310db00
        A purchase is not acknowledged
        Google refunds a purchase that was not acknowledged within three days; Amazon cancels one
        that was not fulfilled within 14.

        Check that the app or its backend acknowledges purchases (Amazon: notifyFulfillment).
        == problem_clock 3f9d2c61a7e84b05b1c8e6d47a90f2ce
        The database's clock and a store's differ
        The database's time and the time in the answers of @RENEWALD_STORE@ differ by more than a
        minute. Nobody loses access early: the earlier of the two counts. Or its answers tell no
        time at all, and nothing ends by them.

        Let the database server follow a time server, for example with chrony. Look for a proxy
        that takes the header Date out.
        == problem_set_aside e7e867766bd77384f0afb1e64f64326b
        A purchase was set aside: it cannot be checked
        Either its row in the database cannot be read (the line names the column), or the process
        crashed three times while it checked this purchase alone. renewald no longer checks it;
        its access stays as it is. Other purchases are not affected.

        Fix the row, or report the crash with the log before it. Then, or after an upgrade, submit
        the purchase again to have it checked.
        """)
}
