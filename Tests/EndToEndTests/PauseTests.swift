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

    /// A nightly pass that could not ask says so, and why.
    @Test func onePassNamesWhatItMayNotAskAbout() async throws {
        try await onStage { stage in
            let app = "google/\(Stage.app)"
            try stage.configure()
            let made = try await stage.buy("google", count: 2)
            try await stage.submit(made, "google") { "ann-\($0)" }
            let other = try await stage.buy("amazon", count: 1)
            try await stage.submit(other, "amazon") { _ in "bob" }
            try await stage.script(
                "SELECT renewald.submit('eve', 'google', 'com.example.typo', 'token', 'monthly')")
            try await pause(app, stage)
            for _ in 1...2 {
                let once = try await stage.renewald("once")
                #expect(once.exit == .code(75))
                #expect(once.standardOutput.contains("2 purchases could not be checked"))
                #expect(
                    once.standardError == """
                        renewald: \(app) is paused: 2 purchases wait; renewald resume \(app) ends it
                        renewald: google/com.example.typo is not configured: 1 purchase waits

                        """)
            }
            #expect(try await stage.renewald("once", "--store", "amazon").exit == .code(0))
            // A limit that was not reached has left nothing.
            let limited = try await stage.renewald("once", "--limit", "1")
            #expect(limited.exit == .code(75))
            #expect(limited.standardError.contains("\(app) is paused: 2 purchases wait"))
            #expect(try await stage.renewald("resume", app).exit == .code(0))
            let once = try await stage.renewald("once", "--json")
            #expect(once.exit == .code(0))
            #expect(once.standardOutput.replacing(" ", with: "").contains(#""unjudged":0"#))
            #expect(once.standardError.contains("com.example.typo is not configured"))
        }
    }

    /// What was imported and not asked about yet has no next check: it is left all the same.
    @Test func onePassNamesWhatWasImportedAndIsLeft() async throws {
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            var lines = "user_id,store,app,product,token\n"
            for store in ["google", "apple"] {
                for made in try await stage.buy(store, count: 12) {
                    lines += "u\(made.id),\(store),\(Stage.app),\(made.product),\(made.token)\n"
                }
            }
            lines += "eve,google,com.example.typo,monthly,token\n"
            let file = "\(stage.folder)/fleet.csv"
            try Data(lines.utf8).write(to: URL(fileURLWithPath: file))
            let imported = try await stage.renewald("import", file, "--baseline")
            #expect(imported.exit == .code(0), "\(imported.standardError)")
            #expect(imported.standardError.contains("google com.example.typo is not configured"))
            let app = "google/\(Stage.app)"
            try await pause(app, stage)
            try await stage.fault(#"{"kind":"throttle","retry_after":600,"store":"apple"}"#)
            _ = try await stage.renewald("once")
            let once = try await stage.renewald("once")
            #expect(once.exit == .code(75))
            #expect(once.standardError.contains("\(app) is paused: 12 purchases wait; "))
            #expect(once.standardError.contains("typo is not configured: 1 purchase waits"))
            #expect(
                once.standardError.contains(
                    /apple\/.* wants no calls until 2026-.*: 1\d purchases wait/))
            try await stage.clearFaults()
            try await stage.pass("PT15M")
            #expect(try await stage.renewald("resume", app).exit == .code(0))
            #expect(try await stage.renewald("once").exit == .code(0))
            let active = try await stage.value(
                "SELECT count(*) FROM renewald.entitlements WHERE active")
            #expect(active == "24")
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
