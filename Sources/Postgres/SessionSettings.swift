import CPostgres

extension Session {
    /// Whether a pooler is in between: it gives out process numbers of its own. From one
    /// transaction to the next such a connection may change the session that it is served by, so
    /// nothing may be left in one: no setting, no prepared statement, no LISTEN.
    func isPooled(_ link: Link) throws(PostgresError) -> Bool {
        let question = PostgresStatement("VALUES (pg_catalog.pg_backend_pid())")
        return try pipeline([question])[0][0].int32("column1") != PQbackendPID(link.handle)
    }
}

extension PostgresSettings {
    /// For how long settings are made.
    enum Span {
        case session
        case transaction
    }

    /// The first statement of a transaction whose session may have another default.
    static let isolating = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"

    /// The statement that fixes what we rely on, whatever the role, the database or the server say.
    func settling(_ span: Span) -> String {
        let timeout = Self.setting(statementTimeout)
        var settings = [
            ("statement_timeout", timeout), ("lock_timeout", Self.setting(lockLimit)),
            ("idle_in_transaction_session_timeout", Self.setting(idleLimit)),
            ("max_parallel_workers_per_gather", "0"), ("jit", "off"),
            ("synchronous_commit", "on"),
            ("timezone", "UTC"), ("datestyle", "ISO"), ("intervalstyle", "postgres"),
            ("bytea_output", "hex"), ("standard_conforming_strings", "on"),
            ("client_min_messages", "warning"), ("array_nulls", "on"),
        ]
        if isForeign {
            // All rows of a cursor are read.
            settings.append(("cursor_tuple_fraction", "1"))
        } else {
            settings.append(("search_path", "pg_catalog"))
        }
        if span == .session {
            // A server whose client is gone without a word, in the middle of a pipeline, waits for
            // the rest of it: no other limit counts there, and the transaction keeps its locks. On
            // a local socket these do nothing.
            settings += [
                ("tcp_keepalives_idle", "5"), ("tcp_keepalives_interval", "2"),
                ("tcp_keepalives_count", "3"), ("tcp_user_timeout", "10s"),
                ("client_connection_check_interval", "2s"), ("idle_session_timeout", "0"),
                ("default_transaction_isolation", "read committed"),
                ("default_transaction_deferrable", "off"),
            ]
        }
        var calls = settings.map { Self.setting($0, to: "'\($1)'", span) }
        if !isForeign { calls.append(Self.setting("plan_cache_mode", to: Self.planning, span)) }
        return "VALUES (\(calls.joined(separator: ", ")))"
    }

    /// Plans are made once. Citus sends each statement to the servers that its values name, and
    /// refuses to plan without them.
    private static let planning = """
        CASE WHEN pg_catalog.current_setting('citus.shard_count', true) IS NULL \
        THEN 'force_generic_plan' ELSE 'auto' END
        """

    private static func setting(
        _ name: String, to expression: String, _ span: Span
    ) -> String {
        "pg_catalog.set_config('\(name)', \(expression), \(span == .transaction))"
    }

    private static func setting(_ limit: Duration) -> String { "\(limit.millisecondsRoundedUp)ms" }
}
