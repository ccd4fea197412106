import Postgres
import Renewal
import TestSupport
import Testing

@testable import Ledger

/// What a database says of itself.
@Suite(.serialized) struct DiagnosisTests {
    private func examination(
        _ stage: Stage, user: String = "postgres"
    ) -> DatabaseExamination {
        DatabaseExamination(
            PostgresSettings(
                conninfo: stage.conninfo.replacing("user=postgres", with: "user=\(user)")))
    }

    /// The list of the query is that of the schema: whoever adds an index adds it there.
    @Test func knowsEveryIndexOfTheSchema() async throws {
        let stage = try await Stage()
        let examination = examination(stage)
        #expect(try await examination.indexFaults() == [])
        let made = try await stage.list(
            """
            SELECT relname::text FROM pg_class
            WHERE relnamespace = 'renewald'::regnamespace AND relkind IN ('i', 'I')
              AND NOT relispartition
            ORDER BY 1
            """)
        for index in made {
            let table = try await stage.list(
                """
                SELECT contype::text || ' ' || conrelid::regclass FROM pg_constraint
                WHERE conindid = $1::regclass AND contype IN ('p', 'u')
                """, [.text("renewald.\(index)")]
            ).first?.split(separator: " ").last
            let definition = try await stage.list(
                """
                SELECT regexp_replace(pg_get_indexdef($1::regclass), '^.* ON (ONLY )?', '')
                """, [.text("renewald.\(index)")])[0].replacing(" USING btree", with: "")
            if let table {
                try await stage.beside.script("ALTER TABLE \(table) DROP CONSTRAINT \(index)")
            } else {
                try await stage.beside.script("DROP INDEX renewald.\(index)")
            }
            let fault = try #require(
                try await examination.indexFaults().first { $0.name == index }, "\(index)")
            #expect(!fault.isThere)
            let plain = definition.replacing("(order_id IS NOT NULL)", with: "order_id IS NOT NULL")
                .replacing("(original_id IS NOT NULL)", with: "original_id IS NOT NULL")
                .replacing("(period IS NOT NULL)", with: "period IS NOT NULL")
            #expect(fault.definition == plain)
            #expect(fault.isPartitioned == index.hasPrefix("evidence_"))
        }
        #expect(try await examination.indexFaults().count == made.count)
    }

    /// The same of its tables, views, sequences and functions.
    @Test func knowsEveryObjectOfTheSchema() async throws {
        let stage = try await Stage()
        let examination = examination(stage)
        #expect(try await examination.missingObjects() == [])
        try await stage.beside.script("DROP FUNCTION renewald.has(uuid, text)")
        #expect(try await examination.missingObjects() == ["function has(uuid, text)"])
        let made = try await stage.list(
            """
            SELECT CASE relkind WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence' ELSE 'table' END
                || ' ' || relname AS name
            FROM pg_class
            WHERE relnamespace = 'renewald'::regnamespace AND relkind IN ('r', 'p', 'v', 'S')
              AND NOT relispartition
            UNION ALL
            SELECT format('function %s(%s)', proname, oidvectortypes(proargtypes)) FROM pg_proc
            WHERE pronamespace = 'renewald'::regnamespace
            """)
        try await stage.beside.script("DROP SCHEMA renewald CASCADE; CREATE SCHEMA renewald")
        let missing = try await examination.missingObjects()
        #expect(Set(missing) == Set(made + ["function has(uuid, text)"]))
    }

    @Test func theWorkersRoleHasAllItNeeds() async throws {
        let stage = try await Stage()
        try await role("doctor_worker", in: "renewald_worker", stage)
        let rights = try await examination(stage, user: "doctor_worker").rights()
        #expect(rights.missingRights == [])
        #expect(rights.missingRoles == [])
        #expect(!rights.isSuperuser && !rights.ownsSchema)
        let owner = try await examination(stage).rights()
        #expect(owner.isSuperuser && owner.ownsSchema)
    }

    @Test func anAppsRoleLacksWhatTheDaemonNeeds() async throws {
        let stage = try await Stage()
        try await role("doctor_app", in: "renewald_app", stage)
        let missing = try await examination(stage, user: "doctor_app").rights().missingRights
        for right in [
            "SELECT on purchase", "UPDATE on schedule", "USAGE on purchase_id",
            "EXECUTE on renewald.wake(smallint,integer,bigint,interval)",
        ] {
            #expect(missing.contains(right), "\(right)")
        }
        #expect(!missing.contains { $0.hasPrefix("EXECUTE on renewald.submit(") })
    }

    @Test func seesTheRightsOfColumnsAndOfBackends() async throws {
        let stage = try await Stage()
        try await role("doctor_worker", in: "renewald_worker", stage)
        let worker = examination(stage, user: "doctor_worker")
        #expect(try await worker.rights().missingAppRights == [])
        try await stage.beside.script(
            """
            REVOKE UPDATE (sealed_bodies) ON renewald.evidence FROM renewald_worker;
            REVOKE EXECUTE ON FUNCTION renewald.has(text, text) FROM renewald_app;
            REVOKE SELECT ON renewald.events FROM renewald_app;
            """)
        let rights = try await worker.rights()
        #expect(rights.missingRights == ["UPDATE of sealed_bodies on evidence"])
        #expect(
            rights.missingAppRights == ["EXECUTE on renewald.has(text,text)", "SELECT on events"])
        #expect(rights.isWorker)
    }

    @Test func noStatementReadsAWholeTableUnlessAnIndexIsGone() async throws {
        let stage = try await Stage()
        let examination = examination(stage)
        // Of a table that is known to be small the server would rather read the whole.
        for number in 1...3 { try await stage.submit("user-\(number)", "token-\(number)") }
        try await stage.beside.script("ANALYZE")
        #expect(try await examination.wholeTableReads() == [])
        try await stage.beside.script(
            """
            ALTER TABLE renewald.purchase DROP CONSTRAINT purchase_pkey;
            DROP INDEX renewald.purchase_user, renewald.purchase_by_id;
            ALTER TABLE renewald.entitlement DROP CONSTRAINT entitlement_pkey;
            DROP INDEX renewald.entitlement_user;
            """)
        let reads = Set(try await examination.wholeTableReads())
        #expect(
            reads == [
                "claim: purchase", "claim of the latest: purchase", "marks: purchase",
                "renewald.has: entitlement",
            ])
        // The transaction's settings have gone with it.
        #expect(try await examination.server().isStandby == false)
    }

    @Test func tellsWhatHoldsVacuumUp() async throws {
        let stage = try await Stage()
        let other = stage.session("holder")
        let pid = try await other.currentBackendPID()
        _ = try await other.transaction { other in
            try await other.query(PostgresStatement("SELECT txid_current()"))
            let own = try await examination(stage).holders(longerThan: .zero, transactions: 0)
            let holder = try #require(own.first { $0.pid == pid })
            #expect(holder.kind == .transaction)
            #expect(holder.name == "holder")
            #expect(holder.lasting != nil)
            let later = try await examination(stage).holders(
                longerThan: .hours(1), transactions: 100_000)
            #expect(!later.contains { $0.pid == pid })
        }
        await other.close()
    }

    @Test func seesOthersByTheirTransactionsWhereTheirTimeIsHidden() async throws {
        let stage = try await Stage()
        try await role("doctor_worker", in: "renewald_worker", stage)
        let worker = examination(stage, user: "doctor_worker")
        #expect(try await worker.server().seesAllSessions == false)
        let other = stage.session("holder")
        let pid = try await other.currentBackendPID()
        _ = try await other.transaction { other in
            try await other.query(PostgresStatement("SELECT txid_current()"))
            let seen = try await worker.holders(longerThan: .hours(1), transactions: 0)
            let holder = try #require(seen.first { $0.pid == pid })
            #expect(holder.lasting == nil)
            let recent = try await worker.holders(longerThan: .zero, transactions: 100_000)
            #expect(!recent.contains { $0.pid == pid })
        }
        await other.close()
    }

    @Test func tellsTablesThatAutovacuumMayNotTouch() async throws {
        let stage = try await Stage()
        try await stage.beside.script(
            "ALTER TABLE renewald.schedule SET (autovacuum_enabled = off)")
        let tables = try await examination(stage).tables()
        #expect(tables.first?.name == "schedule")
        #expect(tables.filter(\.isExempt).map(\.name) == ["schedule"])
    }

    private func role(_ name: String, in group: String, _ stage: Stage) async throws {
        try await stage.beside.script(
            """
            DO $$ BEGIN
                CREATE ROLE \(name) LOGIN IN ROLE \(group);
            EXCEPTION WHEN duplicate_object THEN NULL;
            END $$
            """)
    }
}
