import Foundation
import TestSupport
import Testing

/// What a command prints arrives, or its exit code says that it did not; what it is told to write
/// to is written, and nothing beside it is harmed.
@Suite(.serialized)
struct OutputTests {
    // MARK: Standard output

    private static let theirs = "SELECT 'ada' AS user_id, 'monthly' AS entitlement, true AS active"

    @Test func outputThatIsLostIsAnError() async throws {
        try await onStage { stage in
            try await stage.submit(try await stage.buy("google")[0], "google", for: "ada")
            #expect(try await stage.renewald("check", "ada").exit == .code(0))
            let fleet = "\(stage.folder)/fleet.csv"
            try Data("user_id,store,app,product,token\neve,google,\(Stage.app),monthly,t\n".utf8)
                .write(to: URL(filePath: fleet))
            let commands = [
                ["events"], ["events", "--json"], ["explain", "ada"], ["explain", "ada", "--json"],
                ["explain", "ada", "--html", "-"], ["status"], ["status", "--json"],
                ["check", "ada"], ["check", "ada", "--json"], ["doctor"], ["doctor", "--json"],
                ["once"], ["once", "--json"], ["migrate"], ["plan"], ["plan", "--json"],
                ["plan", "--purchases", "google=1000"], ["export", "--all"], ["what-if"],
                ["what-if", "--json"], ["apply", "--yes"], ["apply", "--yes", "--json"],
                ["replay", "--since", "2020-01-01"], ["replay", "--since", "2020-01-01", "--json"],
                ["release", "--yes"], ["release", "--yes", "--json"],
                ["shadow", "--theirs", Self.theirs], ["shadow", "--theirs", Self.theirs, "--json"],
                ["import", fleet, "--dry-run"], ["import", fleet, "--json"], ["rekey"],
                ["pause", "google/\(Stage.app)"], ["resume", "google/\(Stage.app)"],
            ]
            for (place, words) in [
                (">/dev/full", "no space is left"), (">&-", "it is closed"),
            ] {
                for command in commands {
                    let ended = try await run(stage, command, place)
                    #expect(ended.exit == .code(74), "\(command) \(place)")
                    #expect(
                        ended.standardError.contains("standard output cannot be written: ")
                            && ended.standardError.contains(words), "\(command) \(place)")
                }
            }
            for command in [["help"], ["help", "events"], ["events", "-h"], ["--version"]] {
                let words = [Stage.program("renewald")] + command
                let ended = try await ChildProcess.run(
                    "bash", ["-c", "\"$0\" \"$@\" > /dev/full"] + words)
                #expect(ended.exit == .code(74), "\(command)")
                #expect(ended.standardError.contains("no space is left"), "\(command)")
            }
            // The closed stream's number is not given to the connection.
            #expect(try await stage.renewald("events").standardOutput.contains("purchased"))
        }
    }

    /// Not taken for an empty file, of which all is well.
    @Test func inputThatIsClosedIsAnError() async throws {
        try await onStage { stage in
            for command in [["import", "-"], ["shadow", "--theirs-csv", "-"]] {
                let ended = try await run(stage, command, "<&-")
                #expect(ended.exit == .code(66), "\(command)")
                #expect(
                    ended.standardError == "renewald: -: cannot be read: it is closed, or open for "
                        + "writing only\n", "\(command)")
            }
            #expect(try await run(stage, ["status"], "<&-").exit == .code(0))
        }
    }

    /// Whatever the environment claims of it, a pipe or a file is written as one.
    @Test func aLogThatIsNoSocketIsNotTheJournals() async throws {
        try await onStage { stage in
            let claimed = "(JOURNAL_STREAM=$(stat -L -c %d:%i /dev/stderr) exec \"$0\" \"$@\")"
            let log = "\(stage.folder)/log"
            for (user, command) in [
                ("ada", claimed),
                ("bob", "\(claimed) 2>\(log); ended=$?; cat \(log) >&2; exit $ended"),
            ] {
                try await stage.submit(try await stage.buy("google")[0], "google", for: user)
                let child = try stage.start(
                    ["once", "--verbose"], under: ["bash", "-c", command])
                #expect(try await child.exit(within: .seconds(60)) == .code(0))
                #expect(
                    child.standardError.contains("grant monthly to \(user): purchased"),
                    "\(child.standardError)")
            }
        }
    }

    @Test func aReaderThatHasGoneIsNoError() async throws {
        try await onStage { stage in
            for command in ["events", "status", "doctor"] {
                let ended = try await run(stage, [command], "| true; exit ${PIPESTATUS[0]}")
                let isFine = [.code(0), .code(78)].contains(ended.exit)
                #expect(isFine && !ended.standardError.contains("standard output"), "\(command)")
            }
        }
    }

    /// The work is done and its exit code is its own, whether somebody reads of it or not.
    @Test func workIsDoneWithoutAReader() async throws {
        try await onStage { stage in
            try await stage.submit(try await stage.buy("google")[0], "google", for: "ada")
            #expect(try await runUnread(stage, ["once"]).exit == .code(0))
            #expect(try await stage.story(of: "ada") == ["grant monthly purchased"])
            for more in [["--require"], ["--require", "--json"]] {
                let unknown = try await runUnread(stage, ["check", "nobody"] + more)
                #expect(unknown.exit == .code(66), "\(unknown.standardError)")
            }
            try stage.editConfiguration {
                $0 + "\n[[product]]\nid = \"monthly\"\nentitlements = [\"monthly\", \"plus\"]\n"
            }
            // It shows first what would change, and does it all the same.
            let applied = try await runUnread(stage, ["apply", "--yes"])
            #expect(applied.exit == .code(0), "\(applied.standardError)")
            #expect(
                try await stage.story(of: "ada") == [
                    "grant monthly purchased", "grant plus product_changed",
                ])
            // These do nothing but print: that nobody reads any more is their end.
            for command in [["events"], ["events", "--json"], ["status", "--watch", "--json"]] {
                let ended = try await runUnread(stage, command)
                #expect(ended.exit == .code(0) && ended.standardError.isEmpty, "\(command)")
            }
        }
    }

    /// Runs a command whose standard output is a pipe that nobody reads, from its start on.
    private func runUnread(_ stage: Stage, _ command: [String]) async throws -> Stage.Ended {
        let pipe = "\(stage.folder)/unread"
        // A pipe opens for writing only while it has a reader: the shell itself, which then goes.
        let child = try stage.start(
            command,
            under: [
                "bash", "-c",
                "rm -f \(pipe); mkfifo \(pipe); exec 3<>\(pipe) 4>\(pipe) 3>&-; "
                    + "\"$0\" \"$@\" >&4",
            ])
        return Stage.Ended(
            exit: try await child.exit(within: .seconds(60)),
            standardOutput: child.standardOutput, standardError: child.standardError)
    }

    /// An id that would clear the screen, turn the writing and begin a line of its own.
    @Test func noNameSteersTheTerminal() async throws {
        try await onStage { stage in
            let user = "e\u{1b}[2Jv\u{9b}2J\u{202e}\n1  2026  grant pro  boss"
            try await stage.submit(try await stage.buy("google")[0], "google", for: user)
            #expect(try await stage.renewald("once").exit == .code(0))
            for command in [["events"], ["check", user], ["explain", user]] {
                let ended = try await run(stage, command, "")
                let said = ended.standardOutput + ended.standardError
                #expect(said.contains("grant pro  boss"), "\(command)")
                let steering = said.unicodeScalars.filter {
                    $0 != "\n" && [.control, .format].contains($0.properties.generalCategory)
                }
                #expect(steering.isEmpty, "\(command)")
                #expect(!said.contains("\n1  2026  grant"), "\(command)")
            }
            #expect(
                try await stage.renewald("events").standardOutput.split(separator: "\n").count == 1)
        }
    }

    /// Runs a command under a shell that does that to its output.
    private func run(
        _ stage: Stage, _ command: [String], _ redirection: String
    ) async throws -> Stage.Ended {
        let child = try stage.start(
            command, under: ["bash", "-c", "\"$0\" \"$@\" \(redirection)"])
        return Stage.Ended(
            exit: try await child.exit(within: .seconds(60)),
            standardOutput: child.standardOutput, standardError: child.standardError)
    }

    // MARK: The page

    @Test func aPageReplacesPlainFilesOnly() async throws {
        try await onStage { stage in
            let pages = Pages(stage)
            let new = try await pages.write(to: "new.html")
            #expect(new.exit == .code(0) && pages.isPage("new.html"))
            #expect(try pages.mode("new.html") == 0o600)
            for mode in [0o600, 0o640, 0o644] as [mode_t] {
                try pages.make("old.html", mode: mode)
                #expect(try await pages.write(to: "old.html").exit == .code(0))
                #expect(try pages.mode("old.html") == mode && pages.isPage("old.html"))
            }
            let printed = try await stage.renewald("explain", "ada", "--html", "-")
            #expect(printed.exit == .code(0) && printed.standardOutput.hasPrefix("<!doctype html>"))
            #expect(printed.standardError.isEmpty)
            #expect(try pages.names() == ["new.html", "old.html"])
            let both = try await stage.renewald("explain", "ada", "--html", "-", "--json")
            #expect(both.exit == .code(64))
            #expect(try await pages.write(to: "").exit == .code(73))
        }
    }

    @Test func aLinkStaysALink() async throws {
        try await onStage { stage in
            let pages = Pages(stage)
            try pages.make("target.html", mode: 0o640)
            symlink("target.html", pages.path("link.html"))
            symlink(pages.path("link.html"), pages.path("far.html"))
            #expect(try await pages.write(to: "far.html").exit == .code(0))
            #expect(try pages.mode("target.html") == 0o640 && pages.isPage("target.html"))
            for name in ["link.html", "far.html"] { #expect(pages.isLink(name)) }
            symlink("later.html", pages.path("dangling.html"))
            #expect(try await pages.write(to: "dangling.html").exit == .code(0))
            #expect(pages.isLink("dangling.html") && pages.isPage("later.html"))
            symlink("round.html", pages.path("round.html"))
            let round = try await pages.write(to: "round.html")
            #expect(round.exit == .code(73) && round.standardError.contains("circle"))
        }
    }

    @Test func pipesAndDevicesStayWhatTheyAre() async throws {
        try await onStage { stage in
            let pages = Pages(stage)
            mkfifo(pages.path("pipe"), 0o600)
            let reader = try ChildProcess("cat", [pages.path("pipe")])
            #expect(try await pages.write(to: "pipe").exit == .code(0))
            #expect(try await reader.exit() == .code(0))
            #expect(reader.standardOutput.hasSuffix("</html>\n"))
            #expect(pages.kind("pipe") == S_IFIFO)
            let out = try await run(stage, ["explain", "ada", "--html", "/dev/stdout"], "| cat")
            #expect(out.exit == .code(0) && out.standardOutput.hasSuffix("</html>\n"))
            let folder = try await pages.write(to: ".")
            #expect(folder.exit == .code(73) && folder.standardError.contains("it is a folder"))
            #expect(try pages.names() == ["pipe"])
        }
    }

    /// Device nodes as in `/dev`, made where nobody else uses them.
    @Test func deviceNodesStayWhatTheyAre() async throws {
        try await onStage { stage in
            let pages = Pages(stage)
            for (name, minor) in [("null", 3), ("full", 7)] {
                guard mknod(pages.path(name), S_IFCHR | 0o600, dev_t(1 << 8 | minor)) == 0,
                    open(pages.path(name), O_WRONLY | O_CLOEXEC) >= 0
                else { return print("not tried: no device node may be made or opened here") }
            }
            #expect(try await pages.write(to: "null").exit == .code(0))
            let full = try await pages.write(to: "full")
            #expect(full.exit == .code(73) && full.standardError.contains("no space is left"))
            for name in ["null", "full"] { #expect(pages.kind(name) == S_IFCHR) }
            // A disk without a driver: also a mistaken write would do no harm.
            #expect(mknod(pages.path("disk"), S_IFBLK | 0o600, dev_t(250 << 8)) == 0)
            let disk = try await pages.write(to: "disk")
            #expect(disk.exit == .code(73) && disk.standardError.contains("it is a disk"))
            #expect(pages.kind("disk") == S_IFBLK)
        }
    }

    /// Who may write to a folder must not lead root's page, or root's hand, elsewhere.
    @Test func rootIsNotLedAstray() async throws {
        guard geteuid() == 0 else { return print("not tried: only root is led astray") }
        try await onStage { stage in
            let pages = Pages(stage)
            let stranger: uid_t = 65_534
            try pages.make("secret", mode: 0o600)
            symlink(pages.path("secret"), pages.path("trap.html"))
            lchown(pages.path("trap.html"), stranger, stranger)
            let led = try await pages.write(to: "trap.html")
            #expect(led.exit == .code(73) && led.standardError.contains("another user's link"))
            #expect(!pages.isPage("secret"))
            chmod(pages.folder, 0o1777)
            try pages.make("waiting.html", mode: 0o644)
            chown(pages.path("waiting.html"), stranger, stranger)
            let waiting = try await pages.write(to: "waiting.html")
            #expect(waiting.exit == .code(73))
            #expect(waiting.standardError.contains("belongs to another user"))
            #expect(!pages.isPage("waiting.html"))
            chmod(pages.folder, 0o755)
            #expect(try await pages.write(to: "waiting.html").exit == .code(0))
            var status = stat()
            #expect(lstat(pages.path("waiting.html"), &status) == 0)
            #expect(status.st_uid == stranger && status.st_mode & 0o777 == 0o644)
        }
    }
}

/// A folder of a test's own for pages.
private struct Pages {
    let stage: Stage
    let folder: String

    init(_ stage: Stage) {
        self.stage = stage
        folder = "\(stage.folder)/pages"
        mkdir(folder, 0o755)
    }

    func path(_ name: String) -> String { name.isEmpty ? "\(folder)/no/" : "\(folder)/\(name)" }

    func write(to name: String) async throws -> Stage.Ended {
        try await stage.renewald("explain", "ada", "--html", path(name))
    }

    func make(_ name: String, mode: mode_t) throws {
        try "old".write(toFile: path(name), atomically: false, encoding: .utf8)
        chmod(path(name), mode)
    }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    func mode(_ name: String) throws -> mode_t {
        var status = stat()
        guard lstat(path(name), &status) == 0 else { throw StageFailure("\(name) is not there") }
        return status.st_mode & 0o777
    }

    func kind(_ name: String) -> mode_t {
        var status = stat()
        return lstat(path(name), &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    func isLink(_ name: String) -> Bool { kind(name) == S_IFLNK }

    func isPage(_ name: String) -> Bool {
        (try? String(contentsOfFile: path(name), encoding: .utf8))?.hasSuffix("</html>\n") == true
    }
}
