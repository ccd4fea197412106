import Ledger
import Renewal

/// What is well and what is wrong with a database: what was read goes in, findings come out.
enum DatabaseFindings {
    static let leastMajor = 15
    /// A daemon has three: it reads, it writes, it listens.
    static let sparedConnections = 10
    static let longTransaction = Duration.minutes(5)
    static let manyTransactions: Int32 = 100_000
    /// Fewer dead rows than that are never too many.
    static let deadRowFloor: Int64 = 50_000

    // MARK: The server

    static func unreachable(_ error: LedgerError) -> Finding {
        let obstacle: LedgerError.Obstacle? =
            if case .unavailable(_, let obstacle) = error { obstacle } else { nil }
        return .wrong(
            "database", error.sentence,
            do: obstacle.map(advice)
                ?? "check that the server runs, and that [database] url names its host, port and "
                + "user",
            .unavailable)
    }

    private static func advice(_ obstacle: LedgerError.Obstacle) -> String {
        let name = "or name the right one in [database] url"
        return switch obstacle {
        case .passwordMissing:
            "give the password: [database] url = \"credential:NAME\" or \"file:/path\" for a whole "
                + "connection string with it, passfile=/path in it, or PGPASSFILE; or let "
                + "pg_hba.conf admit the user without one (peer)"
        case .wrongPassword: "correct the password in [database] url, or in the file that it names"
        case .roleMissing:
            "after `renewald migrate`, as a superuser: CREATE ROLE name LOGIN IN ROLE "
                + "renewald_worker, \(name)"
        case .roleMayNotLogIn: "as a superuser: ALTER ROLE name LOGIN, \(name)"
        case .otherSystemUser:
            "run it as the operating system user of that name, as the service does "
                + "(`sudo -u renewald renewald doctor`), \(name), or map one to the other in "
                + "pg_ident.conf"
        case .notAdmitted: "admit the user in pg_hba.conf and reload the server, \(name)"
        case .databaseMissing: "create the database with `createdb`, \(name)"
        case .notReady: "wait until the server has started, and try again"
        case .tooManyConnections:
            "raise max_connections of the server, or end clients that are not needed"
        case .locked:
            "try again when it is done, or find it: SELECT pid, mode, relation::regclass FROM "
                + "pg_locks WHERE granted AND relation::regclass::text LIKE 'renewald.%'"
        }
    }

    static func failed(_ subject: String, _ error: LedgerError) -> Finding {
        switch error {
        case .unavailable, .noLongerValid, .cancelled: unreachable(error)
        case .forbidden, .schemaMissing, .citusMissing, .encoding, .schemaVersion, .schemaDiffers,
            .refused, .undecodable, .unreadableUser, .eventsLost, .keysMissing:
            .wrong(
                subject, error.sentence,
                do: "fix that and run `renewald doctor` again: this could not be checked")
        }
    }

    static func server(_ server: ServerState, notifies: Bool) -> [Finding] {
        var findings = [version(server)]
        if server.isStandby {
            findings.append(
                .wrong(
                    "database", "the server is a standby, which takes no writes",
                    do: "name the primary in [database] url, or all hosts: host=one,two",
                    .unavailable))
        } else if server.isReadOnly {
            findings.append(
                .wrong(
                    "database", "the server takes no writes: default_transaction_read_only is on",
                    do: "switch it off where it is set, for the role, the database or the server: "
                        + "ALTER ROLE name RESET default_transaction_read_only, or likewise "
                        + "ALTER DATABASE, or postgresql.conf", .unavailable))
        }
        if server.isBehindPooler {
            findings.append(
                .note(
                    "database",
                    "connection pooler detected: LISTEN is not used"
                        + (notifies ? ", new purchases are found within [engine] poll" : "")))
        }
        if !server.holdsAllText {
            findings.append(
                .wrong(
                    "database",
                    "its encoding is \(server.encoding): what stores and users write beyond that "
                        + "cannot be stored, and its purchase stays as it was",
                    do: "move renewald's tables to a database of UTF8: pg_dump, then CREATE "
                        + "DATABASE name ENCODING 'UTF8' TEMPLATE template0"))
        }
        findings += durability(server)
        if !server.autovacuum {
            findings.append(
                .wrong(
                    "autovacuum", "it is switched off: dead rows pile up until the server stops",
                    do:
                        "set autovacuum and track_counts on in postgresql.conf, and reload it"
                ))
        }
        let free = server.connections - server.connected
        if free < sparedConnections {
            findings.append(
                .note(
                    "connections", "\(free) of \(server.connections) are free",
                    do: "raise max_connections: a daemon needs three of them, each command two"))
        }
        return findings
    }

    private static func version(_ server: ServerState) -> Finding {
        guard server.major >= leastMajor else {
            return .wrong(
                "database", "PostgreSQL \(server.version) is older than \(leastMajor)",
                do: "upgrade the server: pg_upgradecluster on Debian")
        }
        let free = server.connections - server.connected
        return .ok(
            "database",
            "PostgreSQL \(server.version), \(free) of \(server.connections) connections free"
        )
    }

    private static func durability(_ server: ServerState) -> [Finding] {
        var findings: [Finding] = []
        for (name, isOn) in [
            ("fsync", server.fsync), ("full_page_writes", server.fullPageWrites),
        ] where !isOn {
            findings.append(
                .wrong(
                    "durability", "\(name) is off: a crash of the machine can corrupt the database",
                    do: "set \(name) = on in postgresql.conf, and reload it"))
        }
        if server.synchronousCommit == "off" || server.isolation != "read committed" {
            let set = [
                server.synchronousCommit == "off" ? "synchronous_commit off" : nil,
                server.isolation != "read committed" ? "isolation \(server.isolation)" : nil,
            ].compactMap { $0 }.joined(separator: " and ")
            findings.append(
                .note("durability", "the default is \(set): renewald's sessions set their own"))
        }
        if findings.isEmpty {
            findings.append(.ok("durability", "commits survive a crash"))
        }
        return findings
    }

    // MARK: The schema

    /// - Parameters:
    ///   - found: nil where there is none.
    ///   - missing: what is not there of a schema that fits, such as `view events`.
    /// - Returns: the line of the report.
    static func schema(_ found: SchemaVersion?, missing: [String] = []) -> Finding {
        let isNewer = (found?.number ?? 0) > Migrator.version
        let error: LedgerError
        if let found, found.number > 0 {
            guard let refusal = found.refusal() else {
                return missing.isEmpty ? fitting(found.number) : incomplete(found.number, missing)
            }
            error = refusal
        } else {
            error = .schemaMissing
        }
        return .wrong(
            "schema", error.sentence,
            do: isNewer
                ? "install the renewald that has migrated it"
                : "run `renewald migrate` as a user who may create schemas and roles")
    }

    /// A schema that this program works with.
    private static func fitting(_ number: Int) -> Finding {
        if number == Migrator.version { return .ok("schema", "version \(number), as needed") }
        return .note(
            "schema",
            "version \(number); this program is made for \(Migrator.version) and works with it",
            do: number < Migrator.version
                ? "run `renewald migrate`: older workers keep running"
                : "install the newer renewald")
    }

    /// `renewald migrate` does not make again what it has made once.
    private static func incomplete(_ number: Int, _ missing: [String]) -> Finding {
        let others = missing.count > 1 ? " and \(missing.count - 1) more of it are" : " is"
        return .wrong(
            "schema", "version \(number), but the \(missing[0])\(others) missing",
            do: "put it back as the owner of the schema, from a backup or from a new database: "
                + "`createdb scratch`, `renewald migrate` there, `pg_dump --schema-only scratch`")
    }

    static func rights(_ rights: Rights) -> [Finding] {
        var findings = rights.missingRoles.map { role in
            Finding.wrong(
                "roles", "the role \(role) is missing",
                do: "as a superuser: CREATE ROLE \(role) NOLOGIN, and the GRANTs at the end of the "
                    + "first migration")
        }
        findings += lacks(rights.missingRights, rights.user) { first in
            rights.isWorker
                ? "as the owner of the schema: GRANT \(first.grant) TO renewald_worker"
                : "GRANT renewald_worker TO \(rights.user)"
        }
        findings += lacks(rights.missingAppRights, "renewald_app, by which the backends work,") {
            "as the owner of the schema: GRANT \($0.grant) TO renewald_app"
        }
        let advice =
            "let the daemon connect as a user of its own: CREATE ROLE renewald LOGIN IN ROLE "
        if rights.isSuperuser {
            findings.append(
                .note(
                    "roles", "\(rights.user) is a superuser: more than the daemon needs",
                    do: advice + "renewald_worker"))
        } else if rights.ownsSchema {
            findings.append(
                .note(
                    "roles", "\(rights.user) owns the schema: more than the daemon needs",
                    do: advice + "renewald_worker"))
        }
        return findings.isEmpty
            ? [.ok("roles", "\(rights.user) has the privileges that the daemon needs, and no more")]
            : findings
    }

    /// The first right that a role lacks, and how many more.
    private static func lacks(
        _ rights: [String], _ role: String, remedy: (String) -> String
    ) -> [Finding] {
        guard let first = rights.first else { return [] }
        let others = rights.count > 1 ? " and \(rights.count - 1) other privileges" : ""
        return [.wrong("roles", "\(role) lacks \(first)\(others)", do: remedy(first))]
    }

    static func indexes(_ faults: [IndexFault]) -> [Finding] {
        guard !faults.isEmpty else { return [.ok("indexes", "all exist and are valid")] }
        return faults.map { fault in
            let aside = fault.isPartitioned ? "" : " CONCURRENTLY"
            let remedy =
                if fault.isThere {
                    "REINDEX INDEX CONCURRENTLY renewald.\(fault.name)"
                } else if fault.isOfConstraint {
                    "restore the constraint \(fault.name) on \(fault.definition)"
                } else {
                    "CREATE INDEX\(aside) \(fault.name) ON \(fault.definition)"
                }
            return .wrong(
                "indexes", "\(fault.name) is \(fault.isThere ? "not valid" : "missing")",
                do: "as the owner of the schema: \(remedy)")
        }
    }

    static func plans(_ wholeTableReads: [String]) -> Finding {
        guard !wholeTableReads.isEmpty else {
            return .ok("plans", "each statement of a check uses an index")
        }
        return .wrong(
            "plans",
            "sequential scans by \(Set(wholeTableReads).sorted().joined(separator: ", "))",
            do: "create the missing index, and ANALYZE the tables")
    }

    // MARK: Dead rows

    static func tables(_ tables: [TableState]) -> [Finding] {
        var findings: [Finding] = []
        for table in tables where table.isExempt {
            findings.append(
                .wrong(
                    "autovacuum", "it is switched off for \(table.name)",
                    do: "ALTER TABLE renewald.\(table.name) RESET (autovacuum_enabled)"))
        }
        for table in tables where table.dead >= deadRowFloor && table.dead > table.live {
            let last = table.vacuumedAgo.map { "vacuumed \($0.roughly) ago" } ?? "never vacuumed"
            findings.append(
                .note(
                    "autovacuum",
                    "\(table.name) has \(table.dead) dead rows for \(table.live) live, \(last)",
                    do: "VACUUM renewald.\(table.name), and find what delays autovacuum: a long "
                        + "transaction, too few workers, a large autovacuum_vacuum_cost_delay"))
        }
        guard findings.isEmpty else { return findings }
        let queue = tables.first { $0.name == "schedule" }?.vacuumedAgo
        let last = queue.map { "; the queue was vacuumed \($0.roughly) ago" } ?? ""
        return [.ok("autovacuum", "it keeps up\(last)")]
    }

    /// - Parameters:
    ///   - holders: the oldest first.
    ///   - seesAll: whether the times of other users' transactions were shown.
    /// - Returns: one for each, or that there is none.
    static func holders(_ holders: [Holder], seesAll: Bool) -> [Finding] {
        guard !holders.isEmpty else {
            let limit = longTransaction.roughly
            return [
                .ok(
                    "transactions",
                    seesAll
                        ? "none is older than \(limit)"
                        : "none of renewald's is older than \(limit), none of others' "
                            + "\(manyTransactions) transactions old")
            ]
        }
        return holders.map { holder in
            let age =
                holder.lasting.map { "\($0.roughly) old" }
                ?? "\(holder.transactions) transactions old"
            let pid = holder.pid.map { ", pid \($0)" } ?? ""
            let name = holder.name.isEmpty ? "" : " of \(holder.name)"
            let keeps = "prevents the removal of dead rows"
            switch holder.kind {
            case .transaction:
                return .note(
                    "transactions", "a transaction\(name)\(pid), is \(age) and \(keeps)",
                    do:
                        "end it, or its client: SELECT pg_terminate_backend(\(holder.pid ?? 0))"
                )
            case .prepared:
                return .note(
                    "transactions",
                    "the prepared transaction \(holder.name) is \(age) and \(keeps)",
                    do: "COMMIT PREPARED '\(holder.name)' or ROLLBACK PREPARED '\(holder.name)'")
            case .slot:
                return .note(
                    "transactions",
                    "the replication slot \(holder.name)\(pid) is \(age) and \(keeps)",
                    do: "start its consumer, or pg_drop_replication_slot('\(holder.name)')")
            case .standby:
                return .note(
                    "transactions", "a query on the standby\(name)\(pid) is \(age) and \(keeps)",
                    do: "end it there, or set hot_standby_feedback = off on the standby")
            }
        }
    }
}

extension IndexFault {
    /// Made by a PRIMARY KEY or UNIQUE of its table.
    fileprivate var isOfConstraint: Bool { name.hasSuffix("_pkey") || name.hasSuffix("_key") }
}

extension String {
    /// A right of `Rights` in the words of GRANT.
    fileprivate var grant: String {
        let words = split(separator: " on ", maxSplits: 1).map(String.init)
        guard words.count == 2 else { return self }
        let (right, place) = (words[0].split(separator: " of ").map(String.init), words[1])
        if right.count == 2 { return "\(right[0]) (\(right[1])) ON renewald.\(place)" }
        return switch words[0] {
        case "EXECUTE": "EXECUTE ON FUNCTION \(place)"
        case "USAGE" where place == "the schema": "USAGE ON SCHEMA renewald"
        case "USAGE": "USAGE ON SEQUENCE renewald.\(place)"
        default: "\(words[0]) ON renewald.\(place)"
        }
    }
}
