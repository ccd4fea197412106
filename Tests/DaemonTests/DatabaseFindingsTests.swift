import Ledger
import Renewal
import Testing

@testable import Daemon

/// What is well and what is wrong with a database, from what was read.
struct DatabaseFindingsTests {
    /// What differs from a good server, and the worst that is said of it.
    private static let servers: [(String, @Sendable (inout ServerState) -> Void)] = [
        ("ok database", { _ in }),
        ("wrong database", { $0.major = 14 }),
        ("wrong database", { $0.isStandby = true }),
        ("wrong database", { $0.encoding = "LATIN1" }),
        ("ok database", { $0.encoding = "SQL_ASCII" }),
        ("note database", { $0.isBehindPooler = true }),
        ("wrong durability", { $0.fsync = false }),
        ("wrong durability", { $0.fullPageWrites = false }),
        ("note durability", { $0.synchronousCommit = "off" }),
        ("note durability", { $0.isolation = "serializable" }),
        ("wrong autovacuum", { $0.autovacuum = false }),
        ("note connections", { $0.connected = 90 }),
    ]

    @Test func judgesAServer() {
        for (expected, change) in Self.servers {
            var server = ServerState()
            change(&server)
            let findings = DatabaseFindings.server(server, notifies: true)
            let worst =
                findings.first { $0.level == .wrong } ?? findings.first { $0.level == .note }
                ?? findings.first
            #expect(worst.map { "\($0.level) \($0.subject)" } == expected)
            if expected == "ok database" { #expect(findings.allSatisfy { $0.level == .ok }) }
        }
    }

    @Test func aStandbyIsAsGoodAsNoDatabase() {
        var server = ServerState()
        server.isStandby = true
        #expect(
            DoctorReport(DatabaseFindings.server(server, notifies: true)).exitReason == .unavailable
        )
    }

    @Test(arguments: [
        (LedgerError.Obstacle.wrongPassword, "correct the password"),
        (.passwordMissing, "passfile="), (.notAdmitted, "pg_hba.conf"),
        (.roleMissing, "CREATE ROLE"), (.roleMayNotLogIn, "ALTER ROLE"),
        (.otherSystemUser, "sudo -u"), (.databaseMissing, "createdb"), (.notReady, "try again"),
        (.tooManyConnections, "max_connections"), (.locked, "pg_locks"), (nil, "runs"),
    ])
    func saysWhyThereIsNoConnection(obstacle: LedgerError.Obstacle?, advice: String) {
        // The words are for people: what they hold decides nothing.
        let error = LedgerError.unavailable(
            reason: "28P01 28000 3D000 53300 57P03", obstacle: obstacle)
        let finding = DatabaseFindings.failed("schema", error)
        #expect(finding.exitReason == .unavailable)
        #expect(finding.advice?.contains(advice) == true)
    }

    @Test func wantsASchemaThatItWorksWith() {
        let own = Migrator.version
        #expect(DatabaseFindings.schema(SchemaVersion(own, serves: 1)).level == .ok)
        for version in [
            nil, SchemaVersion(0, serves: 0), SchemaVersion(Migrator.oldest - 1, serves: 1),
        ] {
            let finding = DatabaseFindings.schema(version)
            #expect(finding.exitReason == .configuration)
            #expect(finding.advice?.contains("renewald migrate") == true)
        }
        let unfit = DatabaseFindings.schema(SchemaVersion(own + 1, serves: own + 1))
        #expect(unfit.exitReason == .configuration)
        #expect(unfit.advice?.contains("migrate`") == false)
        let newer = DatabaseFindings.schema(SchemaVersion(own + 1, serves: own))
        #expect(newer.level == .note && newer.advice == "install the newer renewald")
        #expect(newer.sentence.contains("version \(own + 1); this program is made for \(own) "))
        let missing = ["view events", "function has(text, text)", "function has(uuid, text)"]
        let torn = DatabaseFindings.schema(SchemaVersion(own, serves: 1), missing: missing)
        #expect(torn.exitReason == .configuration)
        #expect(
            torn.sentence == "version \(own), but the view events and 2 more of it are missing")
    }

    @Test func tellsTheFirstMissingRightAndHowManyMore() {
        var rights = Rights()
        #expect(DatabaseFindings.rights(rights).map(\.level) == [.ok])
        rights.missingRights = ["SELECT on app", "UPDATE on app", "UPDATE on bucket"]
        rights.missingRoles = ["renewald_app"]
        rights.missingAppRights = ["EXECUTE on renewald.has(text,text)", "SELECT on events"]
        rights.ownsSchema = true
        let findings = DatabaseFindings.rights(rights)
        #expect(findings.map(\.level) == [.wrong, .wrong, .wrong, .note])
        #expect(
            findings[2].advice
                == "as the owner of the schema: GRANT EXECUTE ON FUNCTION renewald.has(text,text) "
                + "TO renewald_app")
        #expect(findings[1].sentence == "renewald lacks SELECT on app and 2 other privileges")
    }

    @Test func saysHowToBringAnIndexBack() {
        let faults = [
            IndexFault(name: "event_id", definition: "renewald.event (id)", isThere: false),
            IndexFault(name: "event_user", definition: "", isThere: true),
            IndexFault(name: "app_pkey", definition: "renewald.app (lane)", isThere: false),
            IndexFault(
                name: "evidence_order", definition: "renewald.evidence (order_id)", isThere: false,
                isPartitioned: true),
        ]
        let advice = DatabaseFindings.indexes(faults).compactMap(\.advice)
        #expect(advice[0].hasSuffix("CREATE INDEX CONCURRENTLY event_id ON renewald.event (id)"))
        #expect(advice[1].hasSuffix("REINDEX INDEX CONCURRENTLY renewald.event_user"))
        #expect(advice[2].hasSuffix("the constraint app_pkey on renewald.app (lane)"))
        #expect(advice[3].hasSuffix("CREATE INDEX evidence_order ON renewald.evidence (order_id)"))
    }

    @Test func noticesATableThatIsStarved() {
        var queue = TableState(name: "schedule", live: 40_000, dead: 49_999)
        #expect(DatabaseFindings.tables([queue]).map(\.level) == [.ok])
        queue.dead = 50_000
        #expect(DatabaseFindings.tables([queue]).map(\.level) == [.note])
        queue.live = 50_000
        #expect(DatabaseFindings.tables([queue]).map(\.level) == [.ok])
        queue.isExempt = true
        #expect(DatabaseFindings.tables([queue]).map(\.level) == [.wrong])
    }

    @Test func tellsWhatHoldsVacuumUp() {
        let findings = DatabaseFindings.holders(
            [
                Holder(kind: .transaction, name: "psql", pid: 4711, lasting: .hours(3)),
                Holder(kind: .slot, name: "old", transactions: 2_000_000),
            ], seesAll: true)
        #expect(findings.map(\.level) == [.note, .note])
        #expect(findings[0].sentence.hasPrefix("a transaction of psql, pid 4711, is 3 h old"))
        #expect(findings[0].advice?.contains("pg_terminate_backend(4711)") == true)
        #expect(findings[1].sentence.contains("slot old is 2000000 transactions old"))
        #expect(DatabaseFindings.holders([], seesAll: true).map(\.level) == [.ok])
    }

    /// What the daemon's own role lacks is given to it: the user has the role already.
    @Test(arguments: [
        ("UPDATE of sealed_bodies on evidence", "UPDATE (sealed_bodies) ON renewald.evidence"),
        ("USAGE on the schema", "USAGE ON SCHEMA renewald"),
        ("USAGE on purchase_id", "USAGE ON SEQUENCE renewald.purchase_id"),
        ("DELETE on clue", "DELETE ON renewald.clue"),
    ])
    func namesTheGrantThatTheRoleLacks(_ right: String, _ grant: String) {
        var rights = Rights()
        rights.missingRights = [right]
        #expect(
            DatabaseFindings.rights(rights)[0].advice == "GRANT renewald_worker TO renewald")
        rights.isWorker = true
        #expect(
            DatabaseFindings.rights(rights)[0].advice
                == "as the owner of the schema: GRANT \(grant) TO renewald_worker")
    }
}
