extension CatalogMessage {
    /// What the service meets.
    static let daemonConditions = messages(
        """
        == started 0c4c3c785c3dcf7604ffa169252b7e35
        renewald has started
        The line shows the version, the apps and the checks in flight.

        Nothing is to be done.
        == stopped 248c4f09428f003e4325c88713317a7b
        renewald has stopped
        The checks in hand were finished and the shards given back.

        Nothing is to be done.
        == reloaded 1371c62c5d7682e2d302ec57dff8eaba
        The new configuration is in force
        Rates, limits, rules and credentials hold for the checks that begin from now on; those
        under way were not interrupted. What waits for a restart is told in lines of its own.

        Nothing is to be done.
        == reload_refused f40c63e3818fce978c7c436faedd37e1
        The configuration was not reloaded
        It has faults, each told in a line before this one. The old configuration stays in
        force.

        Mend the faults and reload again.
        == configuration_fault edb2464e2dec4d8608578bf39f4389b7
        The configuration has a fault
        The line names the file, the line and the key.

        Mend it and reload.
        == secret_readable 0e363cb8ec2cf632fad897e9d1efbeac
        A secret can be read by others
        The file of a secret is readable beyond its owner.

        Take the rights away with chmod, or use LoadCredential= and "credential:NAME".
        == setting_without_effect 5d0f6a3e1c944b0f8a77c0f3b2e6d914
        A setting does nothing yet
        The line names a setting that this version reads and does not obey: what it promises is
        not done.

        Do not rely on it. Leave it as it is: a later version obeys it.
        == restart_needed d177bd9c77464981b767a5d5a3b61fbc
        A changed setting takes effect after a restart
        The line names it. Until then the old value holds.

        Restart at a time that suits: systemctl restart renewald. Nothing is lost by it.
        == work_stuck baec966cad7e410895ddd6c85757b14a
        The work does not advance
        The parts that the line names have not made a step for longer than any call may take. The
        service manager is told nothing more, ends the service at the end of WatchdogSec= and
        starts it again; what was in hand is asked about again.

        If it happens again, keep the core (coredumpctl) and report it.
        == work_advances 3bcf1932d64345f1bcd2db8b42a80e98
        The work advances again
        What was stuck has made a step.

        Nothing is to be done, unless it happens again.
        == database_waits 310f7fe560c6f50591eba9f6c2b81ce7
        The service waits for the database
        It starts to work as soon as PostgreSQL answers.

        Look at PostgreSQL and at [database] url.
        == database_there 302302863f34277a988731fa373d083b
        The database is there
        The service starts to work.

        Nothing is to be done.
        == database_unfit 2b55c45b7d8b41fe6e6d54e6cb28fa06
        The database cannot be used
        The schema is missing or of another version, or the role may not do what is needed.

        Run "renewald migrate" as the owner of the schema, then "renewald doctor".
        == metrics_unavailable 768b549638d568ec2f90b3523ef6c333
        The metrics endpoint cannot listen
        The address of [metrics] listen is taken, or may not be used. The work goes on without
        it.

        Find out who has the port with ss -ltnp, or change the address and reload.
        == lines_summarised 8e1b7c5a90f24d6fb3c2d4170a5e9f62
        Lines about many purchases were summed up
        More was told in a few seconds than a log is read for, such as at a back-fill: grants,
        notices and passing problems beyond 200 lines in ten seconds are counted. Each revoke
        and each line above the level of information is there.

        Nothing is to be done. "renewald events" shows every event.
        == journal_lines_dropped 6ab23e4d85ad3ad9e1919f1e47b22bee
        Lines of the log were dropped
        The journal did not take them in time. The work was not held up; events are in the
        database.

        Look at systemd-journald: is its disk full or slow?
        """)
}
