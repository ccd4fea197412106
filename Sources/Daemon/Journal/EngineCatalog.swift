extension CatalogEntry {
    /// What the engine meets.
    static let engineConditions = entries(
        """
        == circuit_opened ac4fd2ec1f1382d9cb303a743f210a9a
        @RENEWALD_STORE@ fails for @RENEWALD_APP@: single probes until it recovers
        Several checks in a row have failed for a reason that concerns the whole app. Access of
        all its users stays as it is. Single calls probe whether the store is back.

        Check the store's status page and the network. It recovers by itself.
        == store_throttles 3b4ac5ccbab90348a824a3a8095b0406
        @RENEWALD_STORE@ has asked for fewer calls for @RENEWALD_APP@
        All workers wait for as long as the store has asked.

        If it lasts, lower requests_per_second in [store.@RENEWALD_STORE@], or find out who else
        uses the quota.
        == credentials_refused 62f646d6a67753d7282f375c87420296
        @RENEWALD_STORE@ refuses the credentials of @RENEWALD_APP@
        No purchase of this app can be checked. All its users keep the access they have; refunds
        and expiries go unseen until this is fixed.

        Run "renewald doctor". Renew the key in the store's console, put it where the
        configuration says, and restart the service: LoadCredential= hands credentials over at the
        start only. A reload reads a secret that is configured as file:/path again.
        == circuit_closed 7d0bf18fbdb73baf0d6e0f8f94850fdb
        @RENEWALD_STORE@ answers again for @RENEWALD_APP@
        Checks continue at full speed.

        No action needed.
        == database_refuses b2ee82cb79532edc6ae2a5660656cb0c
        The database refuses part of the work
        A privilege is missing, or a table, column or function is not as this version needs it.
        The line says which. Checks that need it wait; the others continue, and nothing is lost.
        What is refused of some purchases alone waits in memory and is tried again every few
        seconds.

        Grant the role renewald_worker to the user, or run "renewald migrate", or undo what was
        changed by hand. The work resumes by itself within seconds.
        == database_relents 935e804fcba078514dbf97e55c58b933
        The database accepts all work again
        What was missing is there.

        No action needed.
        == commit_waits a6619a2e26246b270aa3c08cef21901d
        Commits fail and are retried
        Answers of stores wait to be committed. They are kept for ten leases while the leases can
        be kept, then the stores are asked again; nothing is lost.

        Check PostgreSQL: is it up, is there room on its disk, is it a standby now?
        == commit_goes_on 25465fcf622ec5d12d1162c60af70397
        Commits succeed again
        Nothing was lost.

        No action needed.
        == answers_dropped 52ba88287f9f07acb4940d22ba1eff94
        Answers were dropped; their purchases will be checked again
        The database was away for longer than the leases hold, or another worker has taken over.

        Check PostgreSQL. Nothing was lost but calls.
        == rows_held 57c82b6160a84d9698a30f767f7a08f8
        Another session holds the rows of purchases
        Nothing of what their stores say can be stored meanwhile. They are asked about ever less
        often, up to five minutes apart, and nothing is lost. As a rule a backend has submitted
        them in a transaction that it leaves open.

        Find the session in pg_stat_activity, and end it.
        == outcome_refused c737f5cfa707cb292aace61849dd39a5
        The database refuses to store the outcome of a purchase
        A constraint of the schema does not let purchase @RENEWALD_PURCHASE@ through. Its access
        stays as it is.

        This is a fault of renewald: report it with the lines of PostgreSQL's own log.
        == leases_uncertain 1ac5fa3ad99bebcb787d6ae28024a9f1
        This worker cannot renew its leases
        The database does not answer. No new check starts until it does; another worker may
        take over.

        Check PostgreSQL.
        == reads_stall c744c4502fa947b8a326ed00e4233743
        What is due cannot be checked
        The database lets other work be done, and not this: as a rule another session holds a
        table, or the row of an app's calls. Nothing is lost meanwhile.

        Look in pg_stat_activity for who holds it: a migration, or a session that was left open.
        == reads_go_on 3bf9a64cee20432ea0349462fb7457e6
        What is due can be checked again
        Checks go on with what is due by now.

        No action needed.
        == leases_back c5c36483c90cbddf86b0396751017949
        The database is reachable again
        This worker takes shards and continues.

        No action needed.
        == shards_lost e2b1eeca29003ef2cd4cbd849e68ef0b
        Another worker took over shards of this one
        This worker was silent for longer than [engine] lease. The fence drops what it had in
        flight; the other worker checks that again.

        If it happens often, the machine is overloaded or was suspended: look at its load, or
        raise the lease.
        == app_waits a23384a62fd64a6bac693ff872816c8d
        An app is not served yet
        A backend has submitted the first purchase of this app in a transaction that it has not
        ended. The other apps are served, and this one follows within seconds of its end.

        If it stays, look for a session that is idle in a transaction: SELECT pid, xact_start, query
        FROM pg_stat_activity WHERE state = 'idle in transaction' ORDER BY xact_start.
        == apps_differ 5b0b6d3f0c7d4c1f9a54d7c2f64e31aa
        Workers have configured different apps
        A worker checks purchases of its own apps alone, and each purchase is some worker's. So they
        take turns: by turns of ten seconds a shard is each worker's, and checks wait for that.

        Give all machines on which renewald runs the same configuration, and reload. renewald doctor
        names the workers and the apps.
        == crash_left_checks 9adf546b3b10463876db84cc38a49ca6
        A worker crashed with checks in flight
        It ended without releasing its shards. Those checks are made first, in small groups, so
        that a purchase whose check ends the process is found.

        There is no core file, which would hold secrets: the lines before it say what was at work.
        == suspects_wait 5021a25471d63a02cca3095075412ca7
        What a crash left in flight cannot be rechecked yet
        The database did not answer. It is retried.

        Check PostgreSQL.
        == stopping ccf2946fd0e259946d80712634393d25
        Stopping: the service finishes the checks in flight
        No new check starts.

        No action needed.
        == leases_not_given_back e66fe1f9b5730dbc69db5921dc9cc494
        The leases could not be released
        The database did not answer at the stop. They expire by themselves after [engine] lease.

        No action needed.
        == hints_wait aca94a4f1d432c1c27b8199f68924c7c
        News of @RENEWALD_STORE@ for @RENEWALD_APP@ cannot be read
        Refunds and other changes are seen at the next regular check only. Checks continue; the
        source is retried with backoff.

        "renewald status" says what is wrong with it. Pub/Sub and the voided purchases need
        permissions of their own for the service account.
        == hints_go_on 00bde497b75261c1822ee667fcdea7bf
        News of @RENEWALD_STORE@ for @RENEWALD_APP@ can be read again
        Reading resumes where it had stopped.

        No action needed.
        == hints_elsewhere e46f749fd0b51ed9e21a94f41068ef0a
        Another worker reads news of @RENEWALD_STORE@ for @RENEWALD_APP@ now
        This worker's lease on the source ran out during a pull.

        No action needed, unless it happens often: then the machine is overloaded.
        == hints_skipped d756b2188b738babd096efd243459940
        Some news of @RENEWALD_STORE@ for @RENEWALD_APP@ is not understood
        It cannot be read, its signature is not valid, or it is about another app. It is
        skipped; the regular checks do without it. Told once for as long as it lasts.

        Check whether the topic or the key belongs to another app.
        == news_unhandled 5b1f0c6e8d3a4f72a9c4e61b7d20f835
        @RENEWALD_STORE@ sends news of @RENEWALD_APP@ of a type that this version does not know
        It is recorded in the view renewald.unhandled_news, with how often it has come, and
        acknowledged. Where it names a purchase, that is checked. Told once for each type.

        Look up what the store says of the type. A newer version of renewald may handle it.
        == hint_sources_changed cc087d3b09e5dda8f4c297f455ac0f13
        A reload has changed where news is read from
        New sources are read from now on; removed ones are released.

        No action needed.
        == acknowledgement_waits 75d20f77fa194566ee82f98ea2d095eb
        Google has not taken the acknowledgement of purchase @RENEWALD_PURCHASE@ yet
        It is sent again at the next check. Google refunds a purchase that nobody acknowledges
        within three days.

        If it lasts, check the permissions of the service account.
        == refund_answered df495969cd0ec4dcba4975786a83fa2b
        @RENEWALD_STORE@ has the answer about a refund in @RENEWALD_APP@
        The line names the request, a row of renewald.refund_requests. The store decides.

        No action needed.
        == refund_waits 1309838152974577dbc132595f30813b
        @RENEWALD_STORE@ has not taken an answer about a refund in @RENEWALD_APP@ yet
        The answer is sent again until the deadline of the request. Where the line says that its
        row cannot be read nothing is sent until the row is fixed.

        If it lasts, see renewald.refund_requests and run "renewald doctor".
        == refund_refused 420afa2d5b7991a4904467d3477d1c44
        @RENEWALD_STORE@ refuses an answer about a refund in @RENEWALD_APP@
        The store says that it never takes this answer. It is not sent again.

        The row of renewald.refund_requests says why. Answer in the store's own console if it
        matters.
        == refund_uncertain cbe5df0dc13d6110bc9fd3924913a221
        Nobody knows whether @RENEWALD_STORE@ has an answer about a refund in @RENEWALD_APP@
        The call was cut short, or the process that made it ended. Google keeps the first answer
        and ignores others, so it is not called again.

        No action needed. If it matters, look at the order in the Play Console.
        == refund_unanswered e97bffea0e18d0760645805ff0ed7c03
        @RENEWALD_STORE@ waits for an answer about a refund in @RENEWALD_APP@
        The deadline is less than two hours away. After it the store decides alone.

        Call renewald.answer_refund() with the id of the request that the line names. "[refunds]"
        in the configuration says who answers: with answer = "off" nothing is sent.
        == refund_expired 8e286a93102fc796108613bf46359f79
        The deadline of a question about a refund in @RENEWALD_APP@ has passed
        @RENEWALD_STORE@ has no answer and decides alone.

        If that happens often, let a policy answer: "[refunds]" in the configuration.
        """)
}
