import Renewal

/// `[database]`.
package struct DatabaseKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "database", "The database that holds purchases, entitlements and events.")

    package let url = Key(
        "url", .connection, default: "postgresql:///renewald", .restart,
        """
        Any libpq connection string; several hosts are allowed. What it leaves out comes
        from the PG* environment variables. If it holds a password, keep it in a
        credential: "credential:database-url".
        """)
}

/// `[engine]`.
package struct EngineKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection("engine", "How checks are run.")

    package let inFlight = Key(
        "in_flight", .integer(1...10_000), default: 200, .live, "The most checks in flight.")
    package let poll = Key(
        "poll", .duration(.milliseconds(50) ... .minutes(5)), default: .seconds(1), .live,
        "How often to look for due purchases. NOTIFY wakes the daemon earlier.")
    package let sweepShare = Key(
        "sweep_share", .number(0...1), default: 0.5, .live,
        """
        The most of an app's requests that go to purchases that are not due, those first whose
        change would matter most. What is due goes first. 0 asks about nothing before it is due.
        """)
    package let maxUnasked = Key(
        "max_unasked", .duration(.hours(1) ... .days(366)), default: .days(30), .live,
        "The longest that a purchase that may still change waits for its next check.")
    package let notify = Key(
        "notify", .onOff, default: true, .restart,
        """
        Whether to use LISTEN and NOTIFY. Set "off" for a database that lacks them. Behind a
        connection pooler nothing needs to be set.
        """)
    package let lease = Key(
        "lease", .duration(.seconds(15) ... .minutes(10)), default: .seconds(30), .live,
        """
        How long a worker that stops renewing its leases keeps its shards; then another one
        takes over. At least 15 s: three times the longest wait for the database.
        """)
    package let batch = Key(
        "batch", .integer(1...500), default: 200, .restart, "The most checks in one commit.")
    package let batchAge = Key(
        "batch_age", .duration(.milliseconds(1) ... .seconds(5)), default: .milliseconds(50),
        .restart,
        "How long a finished check waits for others to share its commit.")
    package let stopLimit = Key(
        "stop_limit", .duration(.seconds(1) ... .minutes(10)), default: .seconds(25), .live,
        "How long checks in flight may take to finish after SIGTERM; then they are cancelled.")
}

/// `[evidence]`.
package struct EvidenceKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "evidence",
        """
        The record of each check that told something new, for renewald explain: the
        calls, what the store said and the rule that was applied.
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
        Whether to keep the stores' whole answers. They may contain receipts and names, which
        everybody who reads the database can then read.
        """)
}

/// `[metrics]`.
package struct MetricsKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection(
        "metrics",
        "Metrics for Prometheus, and health checks: /metrics, /healthz, /readyz.")

    package let listen = Key(
        "listen", .listen, or: "off", example: "127.0.0.1:9464", .restart,
        "The address to listen on, in plain HTTP. Metrics name apps and stores, never users.")
    package let goesBeyondLoopback = Key(
        "beyond_loopback", .boolean, default: false, .restart,
        "Whether it may listen on an address that other machines can reach.")
}

/// `[log]`.
package struct LogKeys: KeyGroup {
    package init() {}

    package static let section = ConfigurationSection("log", "Log lines.")

    package let userNames = Key(
        "user_ids", .choice, default: UserNames.plain, .restart,
        """
        How to name users: by their id, or by the first 16 digits of its SHA-256:
        printf %s USER | sha256sum | cut -c -16
        """)
}
