import Foundation
import TestSupport
import Testing

/// Who follows the events misses none and sees none twice, also when the database goes away.
@Suite(.serialized)
struct FollowTests {
    /// A cluster of its own, which may be stopped.
    private static let start = "2026-01-01T00:00:00Z"

    @Test func followsOverARestartOfTheDatabase() async throws {
        try await onStage(from: Self.start) { stage in
            let follower = try stage.start(["events", "--follow", "--after", "0", "--json"])
            try await grant(stage, "ann")
            _ = try await follower.line { $0.contains(#""user_id":"ann""#) }
            try await stage.restartDatabase {
                _ = try await follower.line { $0.contains("will continue after event 1") }
            }
            try await grant(stage, "eve")
            _ = try await follower.line { $0.contains(#""user_id":"eve""#) }
            follower.send(SIGKILL)
            _ = try await follower.exit()
            let lines = follower.standardOutput.split(separator: "\n")
            #expect(lines.count == 2 && Set(lines).count == 2)
            #expect(follower.standardError.contains("the database answers again"))
        }
    }

    @Test func handsOnEveryKindOfDetail() async throws {
        try await onStage { stage in
            try await grant(stage, "ann")
            try await stage.script(
                """
                UPDATE renewald.event SET detail =
                    '{"n": 7, "big": 9007199254740993, "half": 0.5, "none": null, "yes": true,
                      "list": [1, "two"], "inner": {"word": "x"}}'
                """)
            let printed = try await stage.renewald("events", "--json").standardOutput
            #expect(
                printed.contains(
                    #""detail":{"big":9007199254740993,"half":0.5,"inner":{"word":"x"},"#
                        + #""list":[1,"two"],"n":7,"none":null,"yes":true}"#), "\(printed)")
        }
    }

    /// The very block of the README, with this database in place of the example's.
    @Test func theConsumerOfTheReadmeKeepsUp() async throws {
        try await onStage(from: Self.start) { stage in
            let readme = try String(contentsOfFile: "README.md", encoding: .utf8)
            let consumer = try block(of: readme, in: "python", with: "renewald_cursor")
            let table = try block(of: readme, in: "sql", with: "CREATE TABLE renewald_cursor")
            try await stage.script(
                "SET LOCAL search_path = public;\n"
                    + table.split(separator: "\n").filter { !$0.hasPrefix("SELECT") }
                    .joined(separator: "\n"))
            let place = #"database = "dbname=app user=myapp""#
            #expect(consumer.contains(place))
            try consumer.replacingOccurrences(of: place, with: "database = \"\(stage.conninfo)\"")
                .write(toFile: "\(stage.folder)/consumer.py", atomically: true, encoding: .utf8)
            try Self.watcher.write(
                toFile: "\(stage.folder)/watcher.py", atomically: true, encoding: .utf8)
            let child = try ChildProcess(
                "/usr/bin/python3", ["watcher.py"], workingFolder: stage.folder)
            try await grant(stage, "ann")
            _ = try await child.line { $0 == "grant monthly purchased ann" }
            for _ in 0..<200 { try await stage.script("NOTIFY renewald_events") }
            _ = try await child.line { $0 == "kept 0 of 200 and more" }
            try await stage.restartDatabase()
            try await grant(stage, "eve")
            _ = try await child.line { $0 == "grant monthly purchased eve" }
            child.send(SIGKILL)
            _ = try await child.exit()
            let told = child.lines.filter { $0.hasPrefix("grant") }
            #expect(told == ["grant monthly purchased ann", "grant monthly purchased eve"])
        }
    }

    /// Runs the consumer, and tells how many notifications its connections have kept of how many.
    private static let watcher = """
        import threading
        import psycopg2

        connections, connect = [], psycopg2.connect

        class Notifications(list):
            heard = 0
            def append(self, one):
                Notifications.heard += 1
                super().append(one)

        def remember(*words, **names):
            connections.append(connect(*words, **names))
            connections[-1].notifies = Notifications()
            return connections[-1]

        psycopg2.connect = remember
        code = compile(open("consumer.py").read(), "consumer.py", "exec")
        thread = threading.Thread(target=exec, args=(code, {}), daemon=True)
        thread.start()
        told = None
        while thread.is_alive():
            thread.join(0.2)
            kept = sum(len(one.notifies) for one in connections)
            if Notifications.heard >= 200 and kept != told:
                print(f"kept {kept} of 200 and more", flush=True)
                told = kept
        """

    private func block(of text: String, in language: String, with words: String) throws -> String {
        let blocks = text.components(separatedBy: "```\(language)\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        guard let found = blocks.first(where: { $0.contains(words) }) else {
            throw StageFailure("the README has no \(language) with \(words)")
        }
        return found
    }

    private func grant(_ stage: Stage, _ user: String) async throws {
        try await stage.wait {
            (try? await stage.value("SELECT 1")) == "1"
        }
        try await stage.submit(try await stage.buy("google")[0], "google", for: user)
        #expect(try await stage.renewald("check", user).exit == .code(0))
    }
}
