import Foundation
import TestSupport
import Testing

/// What the commands print, change and end with.
@Suite(.serialized)
struct CommandTests {
    @Test func grantsWithinSecondsOfSubmit() async throws {
        try await onStage { stage in
            _ = try stage.daemon()
            try await buyAndSubmitThree(stage)
            for store in Self.stores {
                try await stage.expect(["grant monthly purchased"], of: store, within: .seconds(10))
                let held = try await stage.value("SELECT renewald.has('\(store)', 'monthly')")
                #expect(held == "true")
            }
        }
    }

    @Test func grantsWithoutNotify() async throws {
        try await onStage { stage in
            try stage.configure("[engine]\nnotify = \"off\"")
            _ = try stage.daemon()
            try await stage.wait {
                try await stage.value("SELECT count(*) FROM renewald.worker") == "1"
            }
            try await buyAndSubmitThree(stage)
            for store in Self.stores {
                try await stage.expect(["grant monthly purchased"], of: store, within: .seconds(10))
            }
        }
    }

    @Test func aDryRunSaysNothingOfAFileThatItDidNotWrite() async throws {
        try await onStage { stage in
            let (file, bad) = ("\(stage.folder)/fleet.csv", "\(stage.folder)/bad.csv")
            try "user_id,store,app,product,token\nann,google,a,p,t\nben,google,a,p,\n".write(
                toFile: file, atomically: true, encoding: .utf8)
            let command = ["import", file, "--rejects", bad]
            let dry = try stage.start(command + ["--dry-run"])
            #expect(try await dry.exit(within: .seconds(60)) == .code(0))
            #expect(!FileManager.default.fileExists(atPath: bad))
            #expect(dry.standardOutput.contains("without --dry-run the bad lines are written to"))
            #expect(!dry.standardOutput.contains("the bad lines are in"))
            let real = try stage.start(command)
            #expect(try await real.exit(within: .seconds(60)) == .code(0))
            #expect(real.standardOutput.contains("the bad lines are in \(bad)"))
            #expect(FileManager.default.fileExists(atPath: bad))
        }
    }

    @Test func tellsWhatWasAskedHeardAndChanged() async throws {
        try await onStage { stage in
            try await buyAndSubmitThree(stage)
            let before = try await stage.fingerprint()
            let dry = try await stage.renewald("check", "google", "--dry-run")
            #expect(dry.exit == .code(0))
            #expect(try await stage.fingerprint() == before)
            for words in ["subscriptionsv2", "ACTIVE", "new -> active", "grant monthly purchased"] {
                #expect(dry.standardOutput.contains(words), "\(words)")
            }
            let real = try await stage.renewald("check", "google", "--json")
            #expect(real.exit == .code(0))
            #expect(real.standardOutput.contains(#""state":"active""#))
            #expect(real.standardOutput.contains(#""reason":"purchased""#))
            #expect(real.standardOutput.contains(#""problem":null"#))
            try await stage.expect(["grant monthly purchased"], of: "google")
            let again = try await stage.renewald("check", "google")
            #expect(again.standardOutput.contains("events   none"))
            try await stage.expect(["grant monthly purchased"], of: "google")
        }
    }

    @Test func anUnknownUserIsNoFault() async throws {
        try await onStage { stage in
            let quiet = try await stage.renewald("check", "nobody")
            #expect(quiet.exit == .code(0))
            #expect(quiet.standardOutput == "nobody: no purchases\n")
            #expect(try await stage.renewald("check", "nobody", "--require").exit == .code(66))
        }
    }

    /// By the database's clock; nothing could have been decided since then.
    @Test func nothingIsReplayedSinceTheFuture() async throws {
        try await onStage { stage in
            for time in ["2999-12-31", "2999-12-31T23:59:59+01:00"] {
                let future = try await stage.renewald("replay", "--since", time)
                #expect(future.exit == .code(64) && future.standardOutput.isEmpty, "\(time)")
                #expect(future.standardError.contains("--since \(time) is in the future"))
            }
            for time in ["2026-01-31", "2026-01-31T23:59:59Z", "2026-01-31T23:59:59.5+0100", "P1D"]
            {
                let past = try await stage.renewald("replay", "--since", time)
                #expect(past.exit == .code(0), "\(time): \(past.standardError)")
            }
        }
    }

    @Test func endsWithTheCodesOfSysexits() async throws {
        try await onStage { stage in
            try stage.configure("[polcy]\ngrace = \"keep\"\n[engine]\nin_flight = 0\npol = 1")
            let wrong = try await stage.renewald("run")
            #expect(wrong.exit == .code(78))
            for words in ["policy", "in_flight", "poll"] {
                #expect(wrong.standardError.contains(words), "\(words)")
            }
            try stage.configure()
            #expect(try await stage.renewald("run", "--nonsense").exit == .code(64))
            try await stage.script("DROP SCHEMA renewald CASCADE")
            for command in [["once"], ["run"], ["check", "u"], ["status"], ["events"]] {
                let child = try stage.start(command)
                #expect(try await child.exit() == .code(78), "\(command)")
                #expect(child.standardError.contains("renewald migrate"), "\(command)")
            }
        }
    }

    @Test func oneShotsSayThatThereIsNoDatabase() async throws {
        try await onStage { stage in
            try stage.useDatabase("host=/nowhere/at/all dbname=none password=planted-secret-word")
            stage.plant(["planted-secret-word"])
            for command in [["once"], ["check", "u"], ["status"], ["events"], ["migrate"]] {
                let child = try stage.start(command)
                #expect(try await child.exit() == .code(69), "\(command)")
            }
            let daemon = try stage.daemon()
            _ = try await daemon.line { $0.contains("waiting") }
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    @Test func followsEvents() async throws {
        try await onStage { stage in
            let follower = try stage.start(["events", "--follow", "--after", "0", "--json"])
            _ = try stage.daemon()
            try await buyAndSubmitThree(stage)
            for store in Self.stores {
                _ = try await follower.line {
                    $0.contains(#""reason":"purchased""#) && $0.contains(#""user_id":"\#(store)""#)
                }
            }
            let all = try await stage.renewald("events")
            #expect(all.standardOutput.split(separator: "\n").count == 3)
        }
    }

    @Test func showsTheQueue() async throws {
        try await onStage { stage in
            try await buyAndSubmitThree(stage)
            let status = try await stage.renewald("status")
            #expect(status.exit == .code(0))
            #expect(status.standardOutput.contains("no worker is running"))
            #expect(status.standardOutput.contains("1 due now"))
            #expect(status.standardOutput.contains("s late; 1.0 s of calls at the full rate"))
            #expect(try await stage.renewald("status", "--json").exit == .code(0))
        }
    }

    @Test func badTextIsStoredOrRefusedAndHarmsNobody() async throws {
        try await onStage { stage in
            let texts = [
                "'; DROP TABLE renewald.purchase; --", "../../../etc/passwd", "a/b?c#d%2e%2e",
                "line\nbreak", "tab\there", "\u{1}\u{7f}", "ключ-密钥-🔑", ".", "..",
            ]
            for (index, text) in texts.enumerated() {
                for store in Self.stores {
                    let made = Stage.Made(
                        id: 0, token: text, store_user_id: store == "amazon" ? text : nil,
                        product: text)
                    try await stage.submit(made, store, for: "\(text)-\(index)")
                }
            }
            let daemon = try stage.daemon()
            try await stage.wait {
                try await stage.value(
                    "SELECT count(*) FROM renewald.purchases WHERE problem IS NULL") == "0"
            }
            #expect(try await stage.value("SELECT count(*) FROM renewald.events") == "0")
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
            let status = try await stage.renewald("status")
            #expect(status.standardOutput.contains("problem       rejected"))
        }
    }

    private static let stores = ["apple", "google", "amazon"]

    private func buyAndSubmitThree(_ stage: Stage) async throws {
        for store in Self.stores {
            try await stage.submit(try await stage.buy(store)[0], store, for: store)
        }
    }
}
