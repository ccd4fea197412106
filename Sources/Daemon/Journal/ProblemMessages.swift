extension CatalogMessage {
    /// A purchase that could not be judged: access stays as it is.
    static let problems = messages(
        """
        == problem_unreachable ec3587779127add687acb5fa1cb47f13
        A purchase could not be checked: @RENEWALD_STORE@ gave no usable reply
        The network, TLS, a time-out or a 5xx status stood in the way. Access stays as it is,
        and the store is asked again, less and less often.

        No action needed unless it lasts: then look at the store's status page and the
        network.
        == problem_throttled adface8eb9bbe41cc913635b0983237d
        A purchase could not be checked: @RENEWALD_STORE@ asked for fewer calls
        Access stays as it is; the calls go on when the store allows.

        If it lasts, lower requests_per_second in [store.@RENEWALD_STORE@], or find out who else
        uses the quota.
        == problem_refused 2ee38700351b4c4e81bab2c032d6532f
        A purchase could not be checked: @RENEWALD_STORE@ refuses our credentials
        Access stays as it is, but nothing of app @RENEWALD_APP@ can be checked until this is
        mended.

        Run "renewald doctor": it makes one call for each app and says what is wrong with its
        key.
        == problem_malformed e45c77944d960c97cd8a856a176b3088
        A purchase could not be checked: the reply of @RENEWALD_STORE@ could not be read
        The reply was cut, was no JSON, or lacked a field. Access stays as it is.

        If it lasts, the store has changed its format, or something between changes the replies.
        == problem_signature 7905d9a405db30e047c233f3d01bd608
        A purchase could not be checked: a signature does not hold
        The reply was not signed by the store's authority. Access stays as it is.

        Look at [store.apple] root_certificate and at proxies that open TLS.
        == problem_mismatch 185c0dba100ccb0cc9655e40d7ed2ceb
        A purchase could not be checked: the reply is about something else
        The reply names another purchase, app or environment. Access stays as it is.

        Look whether the app was submitted under the right id.
        == problem_rejected 8d024541dcaee4cdef2a7363b4f7fe92
        A purchase could not be checked: @RENEWALD_STORE@ does not accept its token
        The token is not one of app @RENEWALD_APP@, or was damaged on its way. Access that was
        given stays.

        Look at what the backend submits for this purchase.
        == problem_not_found 94253f28e02eebd1360d438a40b4d448
        @RENEWALD_STORE@ does not know a purchase
        One such answer proves nothing; it is asked again.

        No action needed. If many purchases say so, run "renewald doctor".
        == problem_second_opinion 9ef56af2a169103fe77f3c2bf445f575
        Bad news of a purchase waits for its confirmation
        @RENEWALD_STORE@ says that the purchase is gone. Access goes on until it says so again.

        No action needed.
        == problem_unsupported af3eec7fc9a1f6ac8b3b080a4974b6ad
        A purchase cannot be asked about
        The configuration has no app, or no credential, with which this purchase could be asked
        about.

        Add what the line names to the configuration and reload.
        == problem_unacknowledged 58615a31bf128902e80949a36310db00
        A purchase is not acknowledged
        Google refunds a purchase that was not acknowledged within three days.

        Look whether the app's backend acknowledges purchases.
        == problem_clock 3f9d2c61a7e84b05b1c8e6d47a90f2ce
        The database's clock and a store's differ
        By the time that @RENEWALD_STORE@ sends with its answers the database's clock is more than
        a minute off. No access ends early by that: the earlier of the two counts.

        See that the database server follows a time server, such as chrony.
        == problem_set_aside e7e867766bd77384f0afb1e64f64326b
        A purchase was set aside: it cannot be checked
        Either its row in the database cannot be read (the line names the column), or the process
        ended three times while it checked this purchase, alone. It is not checked any more, and
        its access stays as it is; all others go on.

        Mend the row; or report the fault with the core file. Then, or after an upgrade, submit the
        purchase again to have it checked.
        """)
}
