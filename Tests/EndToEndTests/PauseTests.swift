import Foundation
import TestSupport
import Testing

/// A person lets nobody ask an app's store, and lets it be asked again.
@Suite(.serialized)
struct PauseTests {
    @Test func nobodyAsksWhileAnAppIsPaused() async throws {
        try await onStage { stage in
            let app = "google/\(Stage.app)"
            try await pause(app, stage)
            let made = try await stage.buy("google", count: 1)
            try await stage.submit(made, "google") { _ in "ann" }
            let daemon = try stage.daemon()
            let other = try await stage.buy("amazon", count: 1)
            try await stage.submit(other, "amazon") { _ in "bob" }
            try await stage.wait {
                try await stage.value("SELECT count(*) FROM renewald.events") != "0"
            }
            let checked = try await stage.renewald("check", "ann")
            #expect(checked.exit == .code(75))
            #expect(checked.standardOutput.contains("this app is paused"))
            // Nothing is stored: it is due as before, and nothing is wrong with it.
            let next = try await stage.value(
                """
                SELECT to_char(next_check_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
                FROM renewald.purchases WHERE user_id = 'ann' AND problem IS NULL
                """)
            #expect(
                checked.standardOutput.hasSuffix("  next     \(next), once the app is resumed\n"))
            #expect(!checked.standardOutput.contains("  problem"))
            let shown = try await stage.renewald("check", "ann", "--json").standardOutput
            #expect(shown.contains("\"next_check_at\":\"\(next)\""))
            #expect(shown.contains("\"problem\":null"))
            let status = try await stage.renewald("status").standardOutput
            #expect(status.contains("renewald resume \(app) ends it"))
            let doctor = try await stage.renewald("doctor")
            #expect(doctor.standardOutput.contains("is paused since"))
            #expect(try await stage.calls("google") == 0)

            let resumed = try await stage.renewald("resume", app)
            #expect(resumed.standardOutput == "\(app) is asked about again\n")
            try await stage.wait {
                try await stage.value(
                    "SELECT count(*) FROM renewald.events WHERE user_id = 'ann'") != "0"
            }
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    private func pause(_ app: String, _ stage: Stage) async throws {
        let typo = try await stage.renewald("pause", app + "x")
        #expect(typo.exit == .code(64))
        #expect(
            typo.standardError == "renewald: there is no app \(app)x; the nearest is \(app)\n")
        let paused = try await stage.renewald("pause", app)
        #expect(paused.exit == .code(0), "\(paused.standardError)")
    }
}
