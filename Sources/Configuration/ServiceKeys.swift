import Renewal

/// `[database]`.
package struct DatabaseKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "database", "Where purchases, entitlements and events are.")

    package let url = Key(
        "url", .connection, default: "postgresql:///renewald", .restart,
        """
        Any libpq connection string; several hosts are allowed. What it leaves out comes
        from the PG* environment variables. With a password in it, keep it elsewhere:
        "credential:database-url".
        """)
}

/// `[engine]`.
package struct EngineKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection("engine", "How the work is done.")

    package let inFlight = Key(
        "in_flight", .integer(1...10_000), default: 200, .live, "Checks under way at once.")
    package let poll = Key(
        "poll", .duration(.milliseconds(50) ... .minutes(5)), default: .seconds(1), .live,
        "How often idle shards are looked at. NOTIFY only makes it sooner.")
    package let notify = Key(
        "notify", .onOff, default: true, .restart,
        """
        Whether LISTEN and NOTIFY are used. Switch it off for a database or pooler that
        lacks them.
        """)
    package let lease = Key(
        "lease", .duration(.seconds(15) ... .minutes(10)), default: .seconds(30), .live,
        """
        How long a silent worker keeps its shards: three times the longest wait for the
        database (5 s) at least. Another worker takes over after that time.
        """)
    package let batch = Key(
        "batch", .integer(1...500), default: 200, .restart, "Checks committed together, at most.")
    package let batchAge = Key(
        "batch_age", .duration(.milliseconds(1) ... .seconds(5)), default: .milliseconds(50),
        .restart,
        "How long a finished check waits for others to be committed with.")
    package let stopLimit = Key(
        "stop_limit", .duration(.seconds(1) ... .minutes(10)), default: .seconds(25), .live,
        "How long SIGTERM lets the checks in hand finish before they are cancelled.")
}

/// `[evidence]`.
package struct EvidenceKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "evidence",
        """
        What is kept of the checks that mattered, for renewald explain: what was asked, what the
        store said, the rule that was applied.
        """)

    package let keep = Key(
        "keep", .duration(.zero ... .days(3660)), default: .days(400), .restart,
        """
        Retention. A month of evidence is dropped once its last day is older than this.
        "PT0S" keeps nothing.
        """)
    package let keepsRaw = Key(
        "raw", .onOff, default: false, .restart,
        """
        Whether the stores' answers are kept whole. They may hold receipts and names: who
        reads the database reads them then.
        """)
}

/// `[metrics]`.
package struct MetricsKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "metrics",
        "Figures for Prometheus, and whether the daemon is well: /metrics, /healthz, /readyz.")

    package let listen = Key(
        "listen", .listen, or: "off", example: "127.0.0.1:9464", .restart,
        "Where to answer, in plain HTTP. The figures name apps and stores, never users.")
    package let goesBeyondLoopback = Key(
        "beyond_loopback", .boolean, default: false, .restart,
        "Whether an address that other machines can reach may be listened on.")
}

/// `[log]`.
package struct LogKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection("log", "What the log says.")

    package let userNames = Key(
        "user_ids", .choice, default: UserNames.plain, .restart,
        """
        How users are named: by their id, or by the first 16 digits of its SHA-256:
        printf %s USER | sha256sum | cut -c -16
        """)
}
