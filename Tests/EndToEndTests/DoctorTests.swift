import Foundation
import Postgres
import TestSupport
import Testing

/// `renewald doctor` on a whole site: each thing that can be wrong has its line and its exit code,
/// and hides no other.
@Suite(.serialized)
struct DoctorTests {
    @Test func aHealthySiteIsWell() async throws {
        try await onDurableStage { stage in
            let root = try await installUnits(stage)
            try await connectAsWorker(stage)
            try stage.subscribe()
            let ended = try await stage.renewald("doctor", "--root", root)
            #expect(ended.exit == .code(0), "\(ended.standardOutput)")
            #expect(ended.standardError == "")
            let lines = ended.standardOutput.split(separator: "\n")
            #expect(lines.count >= 20)
            for line in lines.dropLast() {
                #expect(line.hasPrefix("ok  "), "\(line)")
            }
            #expect(lines.last?.hasPrefix("All is well: ") == true)
        }
    }

    @Test func tellsMachinesTheSame() async throws {
        try await onStage { stage in
            try await stage.script("DROP INDEX renewald.event_id")
            let ended = try await stage.renewald("doctor", "--json")
            let report = try JSONDecoder().decode(
                Report.self, from: Data(ended.standardOutput.utf8))
            #expect(ended.exit == .code(78))
            #expect(report.exit == 78)
            let index = try #require(report.checks.first { $0.subject == "indexes" })
            #expect(index.level == "wrong")
            #expect(index.sentence == "event_id is missing")
            let advice = try #require(index.advice)
            #expect(advice.contains("CREATE INDEX CONCURRENTLY event_id ON renewald.event (id)"))
            #expect(report.checks.contains { $0.level == "ok" && $0.advice == nil })
        }
    }

    /// What was submitted for an app with a slip in its name waits, and whoever looks is told why.
    @Test func namesAnAppThatIsNotConfigured() async throws {
        try await onStage { stage in
            let slip = String(Stage.app.dropLast())
            try await stage.script(
                "SELECT renewald.submit('ada', 'google', '\(slip)', 'monthly', 'token')")
            _ = try await stage.renewald("once")
            let words = ["google \(slip) is not configured", "1 purchase", "google \(Stage.app)"]
            for command in ["doctor", "status"] {
                let said = try await stage.renewald(command).standardOutput
                let line = said.split(separator: "\n").first { $0.contains(words[0]) } ?? "-"
                for word in words { #expect(line.contains(word), "\(command): \(said)") }
            }
            let problem = try await stage.value("SELECT problem FROM renewald.purchases")
            #expect(problem == "unsupported: this app is not configured")
        }
    }

    private struct Report: Decodable {
        struct Check: Decodable {
            let level: String
            let subject: String
            let sentence: String
            let advice: String?
        }

        let exit: Int
        let checks: [Check]
    }

    // MARK: Configuration and credentials

    @Test func tellsEveryFaultOfTheConfiguration() async throws {
        try await onStage { stage in
            try stage.configure("[engine]\nin_flight = 0\npol = 1")
            let ended = try await stage.renewald("doctor")
            #expect(ended.exit == .code(78))
            ended.expect("wrong", "configuration", "renewald.toml:", "engine.in_flight")
            ended.expect("wrong", "configuration", "poll")
            ended.expect("skipped", "database", "the configuration cannot be used")
            ended.expect("note", "units", "none are installed")
        }
    }

    @Test func tellsWhichCredentialCannotBeUsed() async throws {
        try await onStage { stage in
            let stores = "\(stage.folder)/stores"
            try stage.editConfiguration {
                $0.replacingOccurrences(of: "/google.json", with: "/nowhere.json")
            }
            try "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".write(
                toFile: "\(stores)/apple.p8", atomically: true, encoding: .utf8)
            chmod("\(stores)/amazon.secret", 0o644)
            let ended = try await stage.renewald("doctor")
            #expect(ended.exit == .code(78))
            ended.expect("wrong", "credentials", "app.service_account", "does not exist")
            ended.expect("wrong", "credentials", "app.private_key", "not a P-256 key")
            ended.expect("note", "credentials", "every user of this machine can read")
            ended.expect("skipped", "google", "its credentials cannot be used")
            ended.expect("skipped", "apple", "its credentials cannot be used")
            ended.expect("ok", "amazon", "accepts the key")
        }
    }

    @Test func tellsWhichStoreRefusesTheCredentials() async throws {
        try await onStage { stage in
            try stage.editConfiguration { text in
                text.replacing(/key_id = "[A-Z0-9]+"/, with: "key_id = \"ABCDEFGHIJ\"")
            }
            try "2:wrong".write(
                toFile: "\(stage.folder)/stores/amazon.secret", atomically: true, encoding: .utf8)
            try await stage.fault(#"{"store":"google","kind":"status","status":403}"#)
            let ended = try await stage.renewald("doctor")
            #expect(ended.exit == .code(78))
            ended.expect("wrong", "apple", "refused our credentials (status 401)")
            ended.expect("wrong", "google", "refused our credentials (status 403")
            ended.expect("wrong", "amazon", "refused our credentials (status 496")
            ended.expect("ok", "apple", "verifyReceipt answers")
            #expect(ended.standardOutput.contains("in Play Console, Users and permissions"))
        }
    }

    @Test func aStoreThatDoesNotAnswerIsForLater() async throws {
        try await onDurableStage { stage in
            try await stage.fault(#"{"store":"apple","kind":"status","status":503}"#)
            try await stage.fault(#"{"store":"amazon","kind":"throttle"}"#)
            try await stage.fault(#"{"kind":"token_down"}"#)
            try await connectAsWorker(stage)
            let ended = try await stage.renewald("doctor")
            ended.expect("wrong", "apple", "status 503")
            ended.expect("wrong", "amazon", "asked for fewer calls")
            ended.expect("wrong", "google", "token endpoint")
            #expect(ended.wrongSubjects == ["apple", "google", "amazon"])
            #expect(ended.exit == .code(75))
        }
    }

    // MARK: The database

    @Test func aStandbyIsNotThePrimary() async throws {
        let primary = try await ScratchCluster(.init(fsync: true))
        let direct = try await primary.newDatabase()
        let standby = try await ScratchCluster(standbyOf: primary, .init(fsync: true))
        try await onStage(database: direct) { stage in
            let follower = direct.replacingOccurrences(
                of: primary.socketDirectory, with: standby.socketDirectory)
            // It follows with the schema, a moment later.
            let written = try await stage.value("SELECT pg_current_wal_lsn()")
            let hasCome = "SELECT bool_and(replay_lsn >= '\(written)') FROM pg_stat_replication"
            try await stage.wait { try await stage.value(hasCome) == "true" }
            try stage.useDatabase(follower)
            let ended = try await stage.renewald("doctor")
            #expect(ended.exit == .code(69))
            ended.expect("wrong", "database", "a standby, which takes no writes")
            #expect(!ended.standardOutput.contains("check that the server runs"))
            let faults = ended.standardOutput.split(separator: "\n").filter {
                $0.hasPrefix("wrong") && $0.contains("takes no writes")
            }
            #expect(faults.count == 1, "\(ended.standardOutput)")
            // Beside the primary it is no fault.
            try stage.editConfiguration {
                $0.replacingOccurrences(
                    of: follower,
                    with: direct.replacingOccurrences(
                        of: primary.socketDirectory,
                        with: "\(standby.socketDirectory),\(primary.socketDirectory)"))
            }
            let both = try await stage.renewald("doctor")
            #expect(both.exit == .code(0), "\(both.standardOutput)")
        }
    }

    @Test(.enabled(if: Pooler.isInstalled))
    func aPoolerIsNoticed() async throws {
        let cluster = try await ScratchCluster.shared()
        let pooler = try await Pooler(before: cluster.socketDirectory)
        defer { pooler.close() }
        try await onStage { stage in
            try stage.useDatabase(pooler.conninfo(stage.conninfo))
            let ended = try await stage.renewald("doctor")
            ended.expect("note", "database", "connection pooler detected")
            ended.expect("ok", "indexes")
            ended.expect("ok", "plans")
            // Nothing is to be configured for it.
            #expect(!ended.standardOutput.contains("[engine] notify"))
        }
    }

    @Test func withoutADatabaseTheStoresAreAskedAllTheSame() async throws {
        try await onStage { stage in
            try stage.useDatabase("host=/nowhere/at/all dbname=none password=planted-secret-word")
            stage.plant(["planted-secret-word"])
            let ended = try await stage.renewald("doctor")
            #expect(ended.exit == .code(69))
            ended.expect("wrong", "database", "the database is not available")
            ended.expect("skipped", "schema", "the database is not available")
            for store in ["apple", "google", "amazon"] { ended.expect("ok", store) }
            // What a person has to mend comes before.
            try await stage.fault(#"{"store":"amazon","kind":"unauthorized"}"#)
            #expect(try await stage.renewald("doctor").exit == .code(78))
        }
    }

    @Test func wantsTheSchemaOfThisVersion() async throws {
        try await onStage { stage in
            try await stage.script("INSERT INTO renewald.migration (version) VALUES (999)")
            let newer = try await stage.renewald("doctor")
            #expect(newer.exit == .code(78))
            newer.expect("wrong", "schema", "is version 999, newer than")
            try await stage.script("DROP SCHEMA renewald CASCADE")
            let missing = try await stage.renewald("doctor")
            #expect(missing.exit == .code(78))
            missing.expect("wrong", "schema", "run `renewald migrate`")
            missing.expect("skipped", "indexes", "the schema does not fit")
            missing.expect("ok", "apple")
        }
    }

    @Test func tellsWhatTheDatabaseLacks() async throws {
        try await onStage { stage in
            try await connectAsWorker(stage)
            try await stage.script(
                """
                REVOKE UPDATE ON renewald.purchase FROM renewald_worker;
                DROP INDEX renewald.event_id;
                DROP FUNCTION renewald.has(uuid, text);
                ALTER TABLE renewald.schedule DROP CONSTRAINT schedule_pkey;
                ALTER TABLE renewald.schedule SET (autovacuum_enabled = false);
                UPDATE pg_index SET indisvalid = false
                    WHERE indexrelid = 'renewald.purchase_user'::regclass;
                """)
            let ended = try await stage.renewald("doctor")
            #expect(ended.exit == .code(78))
            ended.expect("wrong", "schema", "function has(uuid, text) is missing")
            ended.expect("wrong", "roles", "lacks UPDATE on purchase")
            ended.expect("wrong", "indexes", "event_id is missing")
            ended.expect("wrong", "indexes", "schedule_pkey is missing")
            ended.expect("wrong", "indexes", "purchase_user is not valid")
            ended.expect("wrong", "plans", "claim: schedule, commit: schedule, marks: schedule")
            ended.expect("wrong", "autovacuum", "switched off for schedule")
            ended.expect("wrong", "durability", "fsync is off")
        }
    }

    /// The database's clock is moved, so that its transaction is old at once.
    @Test func tellsWhatHoldsVacuumUpAndWhoseClockIsWrong() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            let other = PostgresConnection(PostgresSettings(conninfo: stage.conninfo))
            _ = try await other.transaction { other in
                let pid = try await other.query(
                    PostgresStatement("SELECT pg_backend_pid() AS pid, txid_current()"))[0]
                    .int32("pid")
                try await stage.pass("PT1H")
                let ended = try await stage.renewald("doctor")
                ended.expect("note", "transactions", "pid \(pid)", "60 min old")
                #expect(ended.standardOutput.contains("pg_terminate_backend(\(pid))"))
                ended.expect("wrong", "clock", "behind the database", or: "ahead of the database")
                #expect(ended.exit == .code(78))
            }
            await other.close()
        }
    }

    @Test func aStoreWithAnotherTimeIsTold() async throws {
        try await onStage(simulating: ["--clock", "2026-01-01T00:00:00Z"]) { stage in
            let ended = try await stage.renewald("doctor")
            #expect(ended.exit == .code(78))
            for store in ["Apple", "Google", "Amazon"] {
                ended.expect("wrong", "clock", "ahead of \(store)", or: "behind \(store)")
            }
            ended.expect("ok", "clock", "this machine and the database agree")
        }
    }

    // MARK: Units

    @Test func tellsWhichUnitFileIsNotOfThisVersion() async throws {
        try await onStage { stage in
            let root = try await installUnits(stage)
            let folder = "\(root)/usr/lib/systemd/system"
            try edit("\(folder)/renewald.service") { $0 + "# mine\n" }
            try edit("\(folder)/renewald-once.service") {
                $0.replacing(/X-Renewald-Version=.*/, with: "X-Renewald-Version=0.0.1")
            }
            try FileManager.default.removeItem(atPath: "\(folder)/renewald-alert@.service")
            let dropIn = "\(root)/etc/systemd/system/renewald-once.timer.d"
            try FileManager.default.createDirectory(
                atPath: dropIn, withIntermediateDirectories: true)
            try "[Timer]\n".write(toFile: "\(dropIn)/o.conf", atomically: true, encoding: .utf8)
            let ended = try await stage.renewald("doctor", "--root", root)
            #expect(ended.exit == .code(78))
            ended.expect("wrong", "units", "/renewald.service was changed")
            ended.expect("wrong", "units", "/renewald-once.service is of version 0.0.1")
            ended.expect("note", "units", "renewald-alert@.service is not installed")
            ended.expect("ok", "units", "renewald-once.timer", "o.conf")
        }
    }

    // MARK: The site

    /// A server that is set as one in earnest.
    private func onDurableStage(_ play: (Stage) async throws -> Void) async throws {
        let cluster = try await ScratchCluster(.init(fsync: true))
        try await onStage(database: try await cluster.newDatabase(), play)
    }

    /// A tree with the units of this checkout.
    private func installUnits(_ stage: Stage) async throws -> String {
        let root = "\(stage.folder)/root"
        let folder = "\(root)/usr/lib/systemd/system"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        for name in try FileManager.default.contentsOfDirectory(atPath: "\(checkout)/systemd")
        where name.hasSuffix(".service") || name.hasSuffix(".timer") {
            try FileManager.default.copyItem(
                atPath: "\(checkout)/systemd/\(name)", toPath: "\(folder)/\(name)")
        }
        return root
    }

    /// The user that the README tells to make.
    private func connectAsWorker(_ stage: Stage) async throws {
        try await stage.script(
            """
            DO $$ BEGIN
                CREATE ROLE renewald LOGIN IN ROLE renewald_worker;
            EXCEPTION WHEN duplicate_object THEN NULL;
            END $$
            """)
        try stage.editConfiguration {
            $0.replacingOccurrences(of: "user=postgres", with: "user=renewald")
        }
    }

    private func edit(_ file: String, _ change: (String) -> String) throws {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try change(text).write(toFile: file, atomically: true, encoding: .utf8)
    }
}

extension Stage.Ended {
    /// There is a line of that level about that subject which says all of these, or the other.
    func expect(
        _ level: String, _ subject: String, _ words: String..., or other: String? = nil,
        at place: SourceLocation = #_sourceLocation
    ) {
        let lines = standardOutput.split(separator: "\n").filter { line in
            line.split(separator: " ").prefix(2).map(String.init) == [level, subject]
        }
        let isSaid = lines.contains { line in
            words.allSatisfy { line.contains($0) } || other.map { line.contains($0) } ?? false
        }
        #expect(isSaid, "\(level) \(subject) \(words) in\n\(standardOutput)", sourceLocation: place)
    }

    fileprivate var wrongSubjects: Set<String> {
        var subjects: Set<String> = []
        for line in standardOutput.split(separator: "\n") where line.hasPrefix("wrong ") {
            subjects.insert(String(line.split(separator: " ")[1]))
        }
        return subjects
    }
}
