import Foundation
import TestSupport
import Testing

/// What may be typed, and what is said to a slip of the fingers. Nothing is connected to.
@Suite(.serialized)
struct CommandLineTests {
    @Test(arguments: [
        (["stauts"], "there is no command \"stauts\"; the nearest is status"),
        (["pln"], "there is no command \"pln\"; the nearest is plan"),
        (["--json", "chekc", "ada"], "the nearest is check"),
        (["help", "explian"], "the nearest is explain"), (["check", ""], "the user id is empty"),
        (["explain", ""], "the id is empty"), (["run", "--nonsense"], "--nonsense"),
        (["explain", "ada", "--html", ""], "--html names no file"),
        (["-c", "", "status"], "--config names no file"),
        (["status", "--config", ""], "--config names no file"),
        (["migrate", "--database", ""], "--database names no database"),
        (["migrate", "--database", "  "], "--database names no database"),
        (["import", ""], "names no file"), (["import", "a.csv", "--rejects", ""], "names no file"),
        (["replay", "--since", "soon"], "--since is a date, a time such as"),
        (["replay", "--since", "2026-11-25T12:00:00Zulu"], "--since is a date, a time such as"),
        (["replay", "--since", "2026-11-25T99:99:99Z"], "no such time as 2026-11-25T99:99:99Z"),
        (["replay", "--since", "2026-11-25T24:00:00Z"], "no such time as 2026-11-25T24:00:00Z"),
        (["replay", "--since", "2026-11-25T12:60:00Z"], "no such time as 2026-11-25T12:60:00Z"),
        (["replay", "--since", "2026-11-25T12:00:60Z"], "no such time as 2026-11-25T12:00:60Z"),
        (["replay", "--since", "2026-02-30"], "no such time as 2026-02-30"),
    ])
    func aSlipIsWrongUsage(_ words: [String], _ sentence: String) async throws {
        let ended = try await renewald(words)
        #expect(ended.exit == .code(64) && ended.standardOutput.isEmpty)
        #expect(ended.standardError.contains(sentence), "\(ended.standardError)")
    }

    @Test(arguments: [
        ["--version"], ["help"], ["--help"], ["help", "check"], ["check", "--help"],
        ["-c", "/no/where.toml", "--help"],
    ])
    func helpIsAResult(_ words: [String]) async throws {
        let ended = try await renewald(words)
        #expect(ended.exit == .code(0) && ended.standardError.isEmpty)
        #expect(!ended.standardOutput.isEmpty)
    }

    /// The commit is known where `scripts/stamp` has run the build.
    @Test func tellsVersionCommitAndBuild() async throws {
        let build =
            #/
            renewald\ [0-9]+\.[0-9]+\.[0-9]+(-dev)?
            \ \(commit\ (unknown|[0-9a-f]{12}(\ with\ changes)?),
            \ (debug|release)\ build(,\ Swift\ [0-9.]+)?\)\n
            /#
        let short = try await renewald(["--version"]).standardOutput
        #expect(short.wholeMatch(of: build) != nil, "\(short)")
        for words in [["--version", "--verbose"], ["--verbose", "--version"]] {
            let long = try await renewald(words).standardOutput
            #expect(long.hasPrefix(short) && long.contains("libcurl/"), "\(long)")
            #expect(long.contains(/\nlibpq\/[0-9.]+\n/), "\(long)")
            #expect(long.contains(/\nswift-crypto\/[0-9.]+\n/), "\(long)")
        }
    }

    @Test(arguments: [
        (["-c", "/no/a.toml", "status"], "/no/b.toml", "/no/a.toml"),
        (["--config=/no/a.toml", "--json", "status"], "", "/no/a.toml"),
        (["--verbose", "--config", "/no/a.toml", "events", "--follow"], "", "/no/a.toml"),
        (["status", "-c", "/no/a.toml"], "/no/b.toml", "/no/a.toml"),
        (["status"], "/no/b.toml", "/no/b.toml"),
    ])
    func theConfigurationIsNamedByAnOptionThenTheEnvironment(
        _ words: [String], _ variable: String, _ file: String
    ) async throws {
        let ended = try await renewald(words, ["RENEWALD_CONFIG": variable])
        #expect(ended.exit == .code(78))
        #expect(ended.standardError.hasPrefix("renewald: \(file): "), "\(ended.standardError)")
    }

    /// No database that is away: it would be waited for in vain. No value is repeated.
    @Test(arguments: [
        ("host=db sslmod=require", "there is no option sslmod"),
        ("postgresql://db/app?sslmod=require", "there is no option sslmod"),
        ("host=db sslmode=planted_word", "sslmode is none of disable, allow, prefer"),
        ("host=db port=planted_word", "port is not a number"),
        ("host=one,two port=5432,0", "port is not a number"),
        ("host=db password=planted_first planted_word", "it cannot be read"),
        ("postgresql://user:planted_word%zz@db/app", "it cannot be read"),
        ("service=planted_word", "the service that it names, or PGSERVICE, is in no service file"),
    ])
    func anAddressThatCanNeverBeRightIsAFault(_ url: String, _ sentence: String) async throws {
        let file = "/tmp/rw-address-\(UUID().uuidString).toml"
        try "[database]\nurl = \"\(url)\"\n".write(
            toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        for command in [["status"], ["run"], ["migrate"], ["doctor"]] {
            let ended = try await renewald(command + ["--config", file])
            let said = ended.standardOutput + ended.standardError
            #expect(ended.exit == .code(78), "\(command)")
            #expect(said.contains("\(file): database.url: \(sentence)"), "\(command): \(said)")
            #expect(!said.contains("planted_"), "\(command)")
        }
        let migrated = try await renewald(["migrate", "--database", url])
        #expect(migrated.exit == .code(78))
        #expect(migrated.standardError.contains("renewald: --database: \(sentence)"))
        #expect(!migrated.standardError.contains("planted_"))
    }

    private func renewald(
        _ words: [String], _ variables: [String: String] = [:]
    ) async throws -> ChildProcess.Output {
        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        return try await ChildProcess.run(
            Stage.program("renewald"), words, environment: environment)
    }
}
