extension CatalogEntry {
    /// What the service meets.
    static let daemonConditions = entries(
        """
        == started 0c4c3c785c3dcf7604ffa169252b7e35
        renewald has started
        The line shows the version, the apps and the checks in flight.

        No action needed.
        == stopped 248c4f09428f003e4325c88713317a7b
        renewald has stopped
        The checks in flight were finished, or cut short after [engine] stop_limit: those are made
        again. The shards were released.

        No action needed.
        == reloaded 1371c62c5d7682e2d302ec57dff8eaba
        The new configuration is in force
        Rates, limits, rules and secrets in files apply to checks that start from now on; running
        ones were not interrupted. Settings that need a restart are named in lines of their own. A
        changed "credential:NAME" needs one too: systemd hands it over at the start only.

        No action needed.
        == reload_outlook 9d0b6a3f5c1e4e8797b2c4f1d6a85e30
        The new products or policy would change purchases
        The line says how many, and what users would gain and lose. Checks that start from now on
        go by them already: each purchase changes at its next check.

        To let all change now, without asking a store: "renewald what-if" shows it, "renewald
        apply" does it.
        == reload_refused f40c63e3818fce978c7c436faedd37e1
        The configuration was not reloaded
        It has faults, each named in a line before this one. The old configuration stays in force.

        Fix the faults and reload again.
        == configuration_fault edb2464e2dec4d8608578bf39f4389b7
        The configuration has a fault
        The line names the file, the line and the key.

        Fix it and reload.
        == secret_readable 0e363cb8ec2cf632fad897e9d1efbeac
        A secret can be read by others
        Others than its owner can read the file of a secret.

        Remove the rights with chmod, or use LoadCredential= and "credential:NAME".
        == breaker_tripped 7c1e0b5d94f24a6c8e3f5a2b6d90c417
        The breaker of @RENEWALD_STORE@ @RENEWALD_APP@ has tripped: revocations are held
        More purchases would have lost access than is usual for this app. Further revocations are
        decided and held: their users keep access, and no revoke event is written. Grants go on.

        Find out whether the store or the configuration is wrong: "renewald status" and
        "renewald release" show what is held, and why. A wrong configuration: correct it and
        reload. Then run "renewald release --app @RENEWALD_STORE@/@RENEWALD_APP@": it asks the
        store again, revokes what the store confirms, and drops the rest.
        == restart_needed d177bd9c77464981b767a5d5a3b61fbc
        A changed setting needs a restart
        The line names it. Until then the old value applies.

        Restart when it suits you: systemctl restart renewald. Nothing is lost.
        == work_stuck baec966cad7e410895ddd6c85757b14a
        No progress
        The parts that the line names have made no step for longer than any call may take. The
        daemon stops feeding the watchdog: systemd ends the service after WatchdogSec= and starts
        it again; what was in flight is checked again.

        If it happens again, report it with the lines before it.
        == work_advances 3bcf1932d64345f1bcd2db8b42a80e98
        Progress again
        What was stuck has made a step.

        No action needed, unless it happens again.
        == database_waits 310f7fe560c6f50591eba9f6c2b81ce7
        The service waits for the database
        It starts as soon as PostgreSQL answers.

        Check PostgreSQL and [database] url.
        == database_there 302302863f34277a988731fa373d083b
        The database answers
        The service starts.

        No action needed.
        == database_unfit 2b55c45b7d8b41fe6e6d54e6cb28fa06
        The database cannot be used
        The schema is missing or of another version, or the role lacks privileges.

        Run "renewald migrate" as the owner of the schema, then "renewald doctor".
        == metrics_unavailable 768b549638d568ec2f90b3523ef6c333
        The metrics endpoint cannot listen
        The address of [metrics] listen is in use, or may not be used. The daemon works without
        it.

        Find out who has the port with ss -ltnp, or change [metrics] listen and restart the
        service.
        == lines_summarised 8e1b7c5a90f24d6fb3c2d4170a5e9f62
        Lines about many purchases were summarised
        Beyond 200 lines in ten seconds, as at a back-fill, grants, notices and passing problems
        are counted instead. Each revoke and each line above level info is there.

        No action needed. "renewald events" shows every event.
        == journal_lines_dropped 6ab23e4d85ad3ad9e1919f1e47b22bee
        Lines of the log were dropped
        The journal did not take them in time. The work was not held up; events are in the
        database.

        Check systemd-journald: is its disk full or slow?
        """)
}
