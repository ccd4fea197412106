import Foundation
import TestSupport
import Testing

/// The daemon under a real journald, in a mount namespace of its own, asked with `journalctl`.
@Suite(
    .serialized,
    .enabled(
        if: Tool.isThere("systemd-journald") && Tool.isThere("journalctl") && Tool.hasNamespaces,
        "no journald, or mount namespaces are not permitted"))
struct JournalTests {
    /// Starts journald, then the daemon with its standard error as systemd would connect it; runs
    /// it until the line `ask` comes to standard input, then asks the journal.
    private static let script = #"""
        set -eu
        mount --make-rprivate /
        mount -t tmpfs -o mode=755 tmpfs /run
        mkdir -p /run/systemd/journal /run/log/journal
        mount -t tmpfs tmpfs /var/lib/systemd/catalog
        mount --bind "$1" /usr/lib/systemd/catalog
        journalctl --update-catalog
        PATH="$PATH:/usr/lib/systemd:/lib/systemd"
        systemd-journald 2>/dev/null & journal=$!
        until [ -S /run/systemd/journal/socket ] && [ -S /run/systemd/journal/stdout ]; do :; done
        systemd-cat -t launcher bash -c '
            export JOURNAL_STREAM=$(stat -L -c %d:%i /dev/stderr); exec "$@"' \
            - "$2" run --config "$3" & daemon=$!
        trap 'kill -9 $daemon $journal 2>/dev/null || :' EXIT
        echo started
        read -r word
        kill "$daemon"; wait "$daemon" || echo "exit $?"
        journalctl --sync
        echo "== json"; journalctl --no-pager -o json RENEWALD_USER=ann
        echo "== story"; journalctl --no-pager -o cat RENEWALD_USER=ann
        echo "== explained"; journalctl --no-pager -x RENEWALD_REASON=refunded
        echo "== loud"; journalctl --no-pager -o cat -p notice SYSLOG_IDENTIFIER=renewald
        echo "== all"; journalctl --no-pager -o cat SYSLOG_IDENTIFIER=renewald
        echo "== stores"; journalctl --no-pager -F RENEWALD_STORE
        kill "$journal"; wait "$journal" || :
        """#

    @Test func tellsOneUsersStoryAndWhatToDo() async throws {
        try await onStage { stage in
            let (ann, bob) = (try await stage.buy("google")[0], try await stage.buy("amazon")[0])
            try await stage.submit(ann, "google", for: "ann")
            try await stage.submit(bob, "amazon", for: "bob\nMESSAGE=forged")
            // One word on a pipe is all that the script waits for.
            let fifo = "\(stage.folder)/ask"
            try #require(mkfifo(fifo, 0o600) == 0)
            let child = try stage.startInNamespace(
                Self.script + "\n", reading: fifo,
                [Self.catalog, Stage.program("renewald"), stage.configurationFile])
            _ = try await child.line { $0 == "started" }
            try await stage.expect(["grant monthly purchased"], of: "ann")
            try await stage.expect(["grant monthly purchased"], of: "bob\nMESSAGE=forged")
            try await stage.act(ann, "refund")
            try await stage.script("UPDATE renewald.schedule SET due_at = now()")
            try await stage.expect(
                ["grant monthly purchased", "revoke monthly refunded"], of: "ann")
            try Data("ask\n".utf8).write(to: URL(filePath: fifo))
            #expect(try await child.exit(within: .seconds(60)) == .code(0), "\(child.lines)")
            try examine(Self.parts(child.standardOutput))
        }
    }

    private func examine(_ said: [String: [String]]) throws {
        let story = said["story"] ?? []
        #expect(story.count == 2)
        #expect(story.first?.hasPrefix("grant monthly to ann: purchased") == true)
        #expect(story.last?.hasPrefix("revoke monthly from ann: refunded") == true)
        let entries = try (said["json"] ?? []).map {
            try JSONDecoder().decode(Entry.self, from: Data($0.utf8))
        }
        #expect(entries.map(\.PRIORITY) == ["6", "6"])
        #expect(entries.map(\.RENEWALD_EVENT) == ["grant", "revoke"])
        #expect(entries.map(\.RENEWALD_STORE) == ["google", "google"])
        #expect(Set(entries.map(\.MESSAGE_ID)).count == 2)
        #expect(Int(entries.last?.RENEWALD_DETECTION_LAG_MS ?? "") != nil)
        let explained = (said["explained"] ?? []).joined(separator: "\n")
        #expect(explained.contains("Subject: ann has lost monthly: refunded"))
        #expect(explained.contains("google has given the money back"))
        // A normal day has nothing above `info`.
        let loud = (said["loud"] ?? []).filter { $0 != "-- No entries --" }
        #expect(loud.isEmpty, "\(loud)")
        let all = said["all"] ?? []
        #expect(all.first?.contains("starts: 3 apps") == true)
        #expect(all.last == "renewald has stopped")
        #expect(!all.contains("forged"))
        #expect(Set(said["stores"] ?? []) == ["google", "amazon"])
    }

    private struct Entry: Decodable {
        let PRIORITY: String
        let MESSAGE_ID: String
        let RENEWALD_EVENT: String
        let RENEWALD_STORE: String
        let RENEWALD_DETECTION_LAG_MS: String?
    }

    /// What each question came to, by its title.
    private static func parts(_ output: String) -> [String: [String]] {
        var parts: [String: [String]] = [:]
        var title = ""
        for line in output.split(separator: "\n").map(String.init) {
            if line.hasPrefix("== ") {
                title = String(line.dropFirst(3))
                parts[title] = []
            } else {
                parts[title, default: []].append(line)
            }
        }
        return parts
    }

    private static let catalog = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "systemd").path
}

extension Stage {
    /// Runs a script in a mount namespace; its standard input is the named pipe.
    fileprivate func startInNamespace(
        _ script: String, reading fifo: String, _ arguments: [String]
    ) throws -> ChildProcess {
        try ChildProcess(
            "unshare",
            [
                "--mount", "--fork", "--kill-child", "bash", "-c",
                // Opened for both, so that the pipe stays open without a writer.
                "exec 0<>\"$1\"; shift; " + script, "-", fifo,
            ] + arguments)
    }
}
