import Foundation
import TestSupport
import Testing

/// Encryption at rest by the real programs: switched on, rotated, interrupted, switched off.
@Suite(.serialized)
struct RekeyCommandTests {
    /// Writes a key, and names it in the configuration before those that are there.
    private static func use(
        _ keys: [String], mode: String = "encrypt", _ stage: Stage
    ) throws {
        for name in keys {
            let path = "\(stage.folder)/\(name).key"
            guard !FileManager.default.fileExists(atPath: path) else { continue }
            let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
            let text = Data(bytes).base64EncodedString()
            try (text + "\n").write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: path)
            stage.plant([text])
        }
        let names = keys.map { "\"file:\(stage.folder)/\($0).key\"" }.joined(separator: ", ")
        try stage.configure(
            "[evidence]\nraw = \"on\"\n"
                + (keys.isEmpty
                    ? "" : "[encryption]\nkeys = [\(names)]\nmode = \"\(mode)\"\n"))
    }

    private static func succeed(_ stage: Stage, _ arguments: String...) async throws -> String {
        let child = try stage.start(arguments)
        let exit = try await child.exit(within: .seconds(120))
        #expect(exit == .code(0), "\(arguments): \(child.standardError)")
        return child.standardOutput
    }

    /// Tokens in clear: to a file, as no output may have them.
    private static func exported(_ stage: Stage) async throws -> String {
        let path = "\(stage.folder)/export.jsonl"
        _ = try await succeed(stage, "export", "--all", "--output", path)
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    private static func dump(_ stage: Stage) async throws -> String {
        try await ChildProcess.run(
            "pg_dump", ["--format=plain", "--dbname=\(stage.conninfo)"], within: .seconds(120)
        ).standardOutput
    }

    @Test func isSwitchedOnRotatedAndSwitchedOffAgain() async throws {
        try await onStage { stage in
            try Self.use([], stage)
            var tokens: [String] = []
            for store in ["apple", "google", "amazon"] {
                let made = try await stage.buy(store)[0]
                try await stage.submit(made, store, for: "una \(store)")
                // Others are names that the contract shows.
                if store == "google" { tokens.append(made.token) }
            }
            _ = try await Self.succeed(stage, "once")
            let exported = try await Self.exported(stage)
            let open = try await Self.dump(stage)
            for token in tokens { #expect(open.contains(token)) }

            try Self.use(["first"], stage)
            #expect(try await Self.succeed(stage, "rekey").contains("3 tokens and "))
            let made = try await stage.buy("google")[0]
            tokens.append(made.token)
            try await stage.submit(made, "google", for: "ben")
            _ = try await Self.succeed(stage, "once")
            let dump = try await Self.dump(stage)
            for token in tokens { #expect(!dump.contains(token)) }
            #expect(!dump.contains("subscriptionPurchaseV2"), "no whole answer")
            #expect(
                try await Self.exported(stage).hasPrefix(exported))
            #expect(try await Self.succeed(stage, "check", "una google").contains("granted"))
            #expect(try await Self.succeed(stage, "explain", "ben").contains("granted"))
            let doctor = try await stage.renewald("doctor")
            doctor.expect("ok", "encryption")

            try Self.use(["second", "first"], stage)
            let rotated = try await Self.succeed(stage, "rekey", "--json")
            #expect(rotated.contains(#""credentials":4"#) && rotated.contains(#""left":0"#))
            try Self.use(["second"], stage)
            #expect(try await Self.succeed(stage, "check", "ben").contains("granted"))

            try Self.use(["second"], mode: "decrypt", stage)
            #expect(try await Self.succeed(stage, "rekey").hasSuffix("decrypted\n"))
            try Self.use([], stage)
            #expect(
                try await Self.exported(stage).hasPrefix(exported))
            #expect(try await stage.value("SELECT count(*) FROM renewald.data_key") == "0")
            _ = try await Self.succeed(stage, "once")
        }
    }

    @Test func withoutItsKeyNothingIsJudged() async throws {
        try await onStage { stage in
            try Self.use(["first"], stage)
            let made = try await stage.buy("google")[0]
            try await stage.submit(made, "google", for: "una")
            _ = try await Self.succeed(stage, "once")
            let id = try await stage.value(
                "SELECT encode(key_id, 'hex') FROM renewald.data_key")
            let before = try await stage.value(
                "SELECT string_agg(p::text, ' ') FROM renewald.schedule AS p")

            try Self.use([], stage)
            for command in ["run", "once", "explain una", "export --all", "status", "rekey"] {
                let child = try stage.start(command.split(separator: " ").map(String.init))
                #expect(try await child.exit(within: .seconds(60)) == .code(78), "\(command)")
                #expect(child.standardError.contains("key \(id)"), "\(command)")
            }
            let doctor = try await stage.renewald("doctor")
            #expect(doctor.exit == .code(78))
            doctor.expect("wrong", "encryption")
            #expect(
                try await stage.value(
                    "SELECT string_agg(p::text, ' ') FROM renewald.schedule AS p") == before)

            // What is no key is told by its place.
            try Self.use(["first"], stage)
            try "c2hvcnQ=".write(
                toFile: "\(stage.folder)/first.key", atomically: true, encoding: .utf8)
            let refused = try await stage.renewald("once")
            #expect(refused.exit == .code(78))
            #expect(refused.standardError.contains("encryption.keys: the key has 5 bytes"))
        }
    }

    /// The way out stays open to all others, and it comes back with its token.
    @Test func whatWasAlteredIsNamedAndLeftOutOfAnExport() async throws {
        try await onStage { stage in
            try Self.use(["first"], stage)
            let made = try await stage.buy("google", count: 2)
            for (index, made) in made.enumerated() {
                try await stage.submit(made, "google", for: "una \(index)")
            }
            _ = try await Self.succeed(stage, "once")
            let all = try await Self.exported(stage)
            try await stage.script(
                """
                UPDATE renewald.credential
                SET sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) WHERE id = 1
                """)
            let path = "\(stage.folder)/rest.jsonl"
            let child = try stage.start(["export", "--all", "--output", path])
            #expect(try await child.exit(within: .seconds(60)) == .code(65))
            expectInOrder(
                child.standardError,
                ["purchase 1: altered, or moved here", "1 purchase with", "1 purchase left out"])
            #expect(
                try String(contentsOfFile: path, encoding: .utf8)
                    == all.split(separator: "\n")[1] + "\n")
            let checked = try await stage.renewald("check", "una 0")
            #expect(checked.standardOutput.contains("(column sealed): it was altered, or moved"))
            // The token in clear is as good as the row of a backup.
            try await stage.script(
                """
                UPDATE renewald.credential
                SET token = '\(made[0].token)', sealed = NULL, asked_with = NULL,
                    sealed_asked_with = NULL, sealed_as = NULL
                WHERE id = 1
                """)
            #expect(try await Self.succeed(stage, "check", "una 0").contains("granted"))
            #expect(try await Self.exported(stage) == all)
        }
    }

    /// SIGKILL in the midst: the next call does the rest, and nothing is lost.
    @Test func goesOnAfterAKill() async throws {
        try await onStage { stage in
            let count = 20_000
            try await stage.script(
                """
                SELECT count(*) FROM generate_series(0, \(count / 10_000 - 1)) AS part,
                    LATERAL renewald.submit_many((
                        SELECT jsonb_agg(jsonb_build_object('user_id', 'user ' || n,
                            'store', 'google', 'app', 'com.example.reader', 'product', 'pro',
                            'token', 'planted token ' || n))
                        FROM generate_series(part * 10000 + 1, part * 10000 + 10000) AS n))
                """)
            let exported = try await Self.exported(stage)
            try Self.use(["first"], stage)
            let child = try stage.start(["rekey"])
            let sealed = "SELECT count(*) FROM renewald.credential WHERE sealed IS NOT NULL"
            for _ in 0..<6000 {
                if try await stage.value(sealed) != "0" { break }
                _ = try await stage.value("SELECT count(*) FROM pg_sleep(0.01)")
            }
            child.send(SIGKILL)
            _ = try await child.exit(within: .seconds(60))
            let done = try #require(Int(try await stage.value(sealed)))
            #expect(done > 0)
            let rest = try await Self.succeed(stage, "rekey", "--json")
            #expect(rest.contains("\"credentials\":\(count - done),"), "\(done) of \(count)")
            #expect(try await stage.value(sealed) == "\(count)")
            #expect(try await Self.exported(stage) == exported)
        }
    }
}
