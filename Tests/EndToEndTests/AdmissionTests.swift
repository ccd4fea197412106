import Foundation
import Postgres
import TestSupport
import Testing

/// A server that does not let us in, or takes no writes: what is said, and what works all the same.
@Suite(.serialized)
struct AdmissionTests {
    @Test func aReadOnlyDatabaseIsSeenAndCanBeRead() async throws {
        try await onStage { stage in
            try await stage.submit(try await stage.buy("google")[0], "google", for: "ada")
            #expect(try await stage.renewald("check", "ada").exit == .code(0))
            let name = try await stage.value("SELECT current_database()")
            try await stage.script("ALTER DATABASE \(name) SET default_transaction_read_only = on")
            // Also where the user says that any server will do.
            for more in ["", " target_session_attrs=any"] {
                try stage.configure()
                try stage.useDatabase(stage.conninfo + more)
                let doctor = try await stage.renewald("doctor", "--json")
                #expect(doctor.standardOutput.contains("default_transaction_read_only is on"))
                #expect(doctor.standardOutput.contains("RESET default_transaction_read_only"))
                #expect(doctor.exit == .code(78) || doctor.exit == .code(69))
                for command in ["once", "check"] {
                    let words = command == "check" ? [command, "ada"] : [command]
                    let child = try stage.start(words)
                    #expect(try await child.exit() == .code(69), "\(command)\(more)")
                }
                for words in [["status"], ["explain", "ada"], ["events"]] {
                    let child = try stage.start(words)
                    #expect(try await child.exit() == .code(0), "\(words)\(more)")
                    #expect(!child.standardOutput.isEmpty, "\(words)\(more)")
                }
                let follower = try stage.start(["events", "--follow", "--after", "0"])
                _ = try await follower.line { $0.contains("purchased") }
                follower.send(SIGKILL)
            }
        }
    }

    /// Each is SQLSTATE 28000, and each is something else.
    @Test func whyAUserIsNotLetInIsToldApart() async throws {
        let cluster = try await ScratchCluster()
        let conninfo = try await cluster.newDatabase()
        try await onStage(database: conninfo) { stage in
            let file = try await stage.value("current_setting('hba_file')")
            let old = try String(contentsOfFile: file, encoding: .utf8)
            try ("local all kept_out reject\nlocal all other_user peer\n" + old).write(
                toFile: file, atomically: false, encoding: .utf8)
            try await stage.script(
                """
                CREATE ROLE other_user LOGIN; CREATE ROLE kept_out LOGIN;
                CREATE ROLE "no pg_hba.conf peer" NOLOGIN; SELECT pg_reload_conf()
                """)
            for (user, words, advice) in [
                ("nobody_here", "the role does not exist", "CREATE ROLE name LOGIN IN ROLE"),
                (
                    "other_user", "the operating system's user is not the requested role",
                    "sudo -u renewald"
                ),
                ("kept_out", "pg_hba.conf does not admit this user", "in pg_hba.conf and reload"),
                ("'no pg_hba.conf peer'", "this role may not log in", "ALTER ROLE name LOGIN"),
            ] {
                try stage.configure()
                try stage.useDatabase(
                    conninfo.replacingOccurrences(of: "user=postgres", with: "user=\(user)"))
                let status = try await stage.renewald("status")
                #expect(status.exit == .code(69))
                #expect(status.standardError.contains("SQLSTATE 28000: \(words)"), "\(user)")
                let doctor = try await stage.renewald("doctor").standardOutput
                #expect(doctor.contains(words) && doctor.contains(advice), "\(doctor)")
                #expect(!status.standardError.contains(user), "\(user)")
            }
        }
    }

    @Test func warnsOfWhatGoogleSwitchesOff() async throws {
        try await onStage { stage in
            let warned = "[store.google] api = \"v1\": Google switches it off on 2027-08-31"
            #expect(try await stage.renewald("doctor").standardOutput.contains(warned) == false)
            try stage.editConfiguration {
                $0.replacing("[store.google]\n", with: "[store.google]\napi = \"v1\"\n")
            }
            let doctor = try await stage.renewald("doctor").standardOutput
            #expect(doctor.contains(warned) && doctor.contains("set api = \"v2\""))
        }
    }

    @Test func doctorSaysThatTheBreakerIsOff() async throws {
        try await onStage { stage in
            let warned = "[safety] breaker = \"off\""
            #expect(try await stage.renewald("doctor").standardOutput.contains(warned) == false)
            try stage.configure("[safety]\nbreaker = \"off\"")
            #expect(try await stage.renewald("doctor").standardOutput.contains(warned))
        }
    }
}
