package import Postgres
package import Renewal

/// What `renewald doctor` asks the database about itself. Nothing is written.
///
/// Each question stands alone, so that one that fails does not hide the others.
package struct DatabaseExamination: Sendable {
    private let connection: PostgresConnection

    /// A connection of its own, which also takes a server that is only a standby.
    package init(_ settings: PostgresSettings) {
        connection = PostgresConnection(settings)
    }

    package func close() async { await connection.close() }

    /// The version of the schema; nil where there is none.
    package func schemaVersion() async throws(LedgerError) -> SchemaVersion? {
        try await Migrator(connection).schemaVersion()
    }

    /// Connects, and looks at the server.
    package func server() async throws(LedgerError) -> ServerState {
        try await attempt {
            let ownPID = try await connection.currentBackendPID()
            let row = try await connection.query(SQL.doctorServer.once())[0]
            return try ServerState(row, ownPID: ownPID)
        }
    }

    /// What the schema lacks of its tables, views, sequences and functions.
    ///
    /// - Returns: such as `view events` or `function has(text, text)`.
    package func missingObjects() async throws(LedgerError) -> [String] {
        try await attempt {
            try await connection.query(SQL.doctorObjects.once()).rows.map { row in
                "\(try row.text("kind")) \(try row.text("name"))"
            }
        }
    }

    package func rights() async throws(LedgerError) -> Rights {
        try await attempt {
            let row = try await connection.query(SQL.doctorRights.once())[0]
            var rights = Rights()
            rights.user = try row.text("user_name")
            rights.isSuperuser = try row.bool("is_superuser")
            rights.ownsSchema = try row.bool("owns_schema")
            rights.isWorker = try row.bool("is_worker")
            rights.missingRoles = try row.texts("missing_roles")
            rights.missingRights = try row.texts("missing_rights")
            rights.missingAppRights = try row.texts("missing_app_rights")
            return rights
        }
    }

    /// The indexes that are missing or cannot be used.
    package func indexFaults() async throws(LedgerError) -> [IndexFault] {
        try await attempt {
            try await connection.query(SQL.doctorIndexes.once()).rows.map { row in
                IndexFault(
                    name: try row.text("name"), definition: try row.text("definition"),
                    isThere: try row.bool("is_there"),
                    isPartitioned: try row.bool("is_partitioned"))
            }
        }
    }

    /// The tables that are written most.
    package func tables() async throws(LedgerError) -> [TableState] {
        try await attempt {
            try await connection.query(SQL.doctorTables.once()).rows.map { row in
                let now = try row.instant("now")
                var table = TableState(
                    name: try row.text("name"), live: try row.int64("live"),
                    dead: try row.int64("dead"))
                table.vacuumedAgo = try row.optionalInstant("vacuumed_at").map { now - $0 }
                table.isExempt = try row.bool("is_exempt")
                return table
            }
        }
    }

    /// What keeps vacuum from its work for at least `duration`, or for `transactions` where the
    /// time is hidden.
    package func holders(
        longerThan duration: Duration, transactions: Int32
    ) async throws(LedgerError) -> [Holder] {
        try await attempt {
            let statement = SQL.doctorHolders.once(
                .int64(duration.microseconds), .int32(transactions))
            return try await connection.query(statement).rows.compactMap { row in
                guard let kind = Holder.Kind(rawValue: try row.text("kind")) else { return nil }
                let now = try row.instant("now")
                return Holder(
                    kind: kind, name: try row.text("name"), pid: try row.optionalInt32("pid"),
                    lasting: try row.optionalInstant("since").map { now - $0 },
                    transactions: Int(try row.optionalInt32("age") ?? 0))
            }
        }
    }

    /// Which tables the statements of every check would read as a whole, even where they may not.
    ///
    /// - Returns: such as `claim: schedule`; empty when each has its index.
    package func wholeTableReads() async throws(LedgerError) -> [String] {
        try await attempt {
            try await connection.transaction { connection in
                try await connection.query(SQL.doctorPlanSettings.once())
                var reads: [String] = []
                for (name, statement) in Self.hotStatements {
                    let plan = try await connection.query(statement.plan).rows
                        .map { row throws(PostgresError) in try row.text(0) }
                    // The servers of Citus plan for themselves, with settings of their own.
                    guard !plan.contains(where: { $0.contains("(Citus ") }) else { continue }
                    for line in plan {
                        guard let found = line.firstRange(of: "Seq Scan on ") else { continue }
                        let table = line[found.upperBound...].prefix { $0 != " " }
                        reads.append("\(name): \(table)")
                    }
                }
                return reads
            }
        }
    }

    /// With one place or purchase each, or none: the plan is the same for many.
    private static let hotStatements: [(name: String, statement: PostgresStatement)] = [
        (
            "claim",
            SQL.claimDue(
                .int16s([0]), .timestamps([0]), .int64s([0]), .int32(1), .int32(10), .int32(10))
        ),
        ("claim of the latest", SQL.claimLatest(.int16s([0]), .int32(1), .int32(10), .int32(10))),
        ("commit", CommitBatch(lease: nil).scheduleStatement),
        (
            "marks",
            SQL.marks([
                "shard": .int16s([0]), "lane": .int32s([1]), "id": .int64s([1]),
                "due_at": .timestamps([0]),
            ])
        ),
        ("renewald.has", SQL.doctorHas(.text(""), .text(""))),
        ("renewald.events_after", SQL.doctorEvents(.int64(0), .int32(10))),
    ]
}

/// The server, and how it is set.
package struct ServerState: Hashable, Sendable {
    /// Such as `15.8`.
    package var version = "15.0"
    package var major = 15
    /// It follows another and takes no writes.
    package var isStandby = false
    /// A transaction may not write: on a standby, or where `default_transaction_read_only` is on.
    package var isReadOnly = false
    /// What we are connected to is not the server itself.
    package var isBehindPooler = false
    package var encoding = "UTF8"
    package var now = Timestamp.never
    /// Whether the start of other users' transactions is shown to us.
    package var seesAllSessions = true
    package var fsync = true
    package var fullPageWrites = true
    /// Of the role, the database or the server: each session of ours sets its own.
    package var synchronousCommit = "on"
    package var isolation = "read committed"
    package var autovacuum = true
    /// How many may be there at once, beside those kept for a superuser.
    package var connections = 97
    package var connected = 1

    package init() {}
}

extension ServerState {
    /// Whether its encoding has a place for every character; SQL_ASCII takes all bytes as they are.
    package var holdsAllText: Bool { ["UTF8", "SQL_ASCII"].contains(encoding) }

    fileprivate init(_ row: PostgresRow, ownPID: Int32) throws(PostgresError) {
        version = try row.text("version").split(separator: " ").first.map(String.init) ?? ""
        major = Int(try row.int32("version_number")) / 10_000
        isStandby = try row.bool("in_recovery")
        isReadOnly = try row.bool("read_only")
        isBehindPooler = try row.int32("pid") != ownPID
        encoding = try row.text("encoding")
        now = try row.instant("now")
        seesAllSessions = try row.bool("sees_all_sessions")
        fsync = try row.bool("fsync")
        fullPageWrites = try row.bool("full_page_writes")
        synchronousCommit = try row.text("synchronous_commit")
        isolation = try row.text("isolation")
        autovacuum = try row.bool("autovacuum")
        connections = Int(try row.int32("connections"))
        connected = Int(try row.int64("connected"))
    }
}

/// What the connected user is and may do.
package struct Rights: Hashable, Sendable {
    package var user = "renewald"
    package var isSuperuser = false
    package var ownsSchema = false
    /// Whether it has what `renewald_worker` has.
    package var isWorker = false
    package var missingRoles: [String] = []
    /// Such as `UPDATE on purchase`.
    package var missingRights: [String] = []
    /// The same of `renewald_app`, by which backends work.
    package var missingAppRights: [String] = []

    package init() {}
}

package struct IndexFault: Hashable, Sendable {
    package let name: String
    /// The table with its schema, and the columns.
    package let definition: String
    /// It is there and cannot be used, as after a `CREATE INDEX CONCURRENTLY` that failed.
    package let isThere: Bool
    /// Its table is in parts: the whole index cannot be made beside the work.
    package let isPartitioned: Bool

    package init(name: String, definition: String, isThere: Bool, isPartitioned: Bool = false) {
        self.name = name
        self.definition = definition
        self.isThere = isThere
        self.isPartitioned = isPartitioned
    }
}

package struct TableState: Hashable, Sendable {
    package var name: String
    /// Rows, by the server's statistics.
    package var live: Int64
    package var dead: Int64
    /// Nil when it never was.
    package var vacuumedAgo: Duration?
    /// Autovacuum is switched off for it.
    package var isExempt = false

    package init(name: String, live: Int64, dead: Int64) {
        self.name = name
        self.live = live
        self.dead = dead
    }
}

/// What keeps dead rows from being removed.
package struct Holder: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        case transaction, prepared, slot, standby
    }

    package var kind: Kind
    /// Of the application, the prepared transaction or the slot.
    package var name: String
    package var pid: Int32?
    /// Nil where it is hidden from us or not kept.
    package var lasting: Duration?
    /// How many transactions there have been since.
    package var transactions: Int

    package init(
        kind: Kind, name: String, pid: Int32? = nil, lasting: Duration? = nil, transactions: Int = 0
    ) {
        self.kind = kind
        self.name = name
        self.pid = pid
        self.lasting = lasting
        self.transactions = transactions
    }
}
