import Foundation
import TestSupport
import Testing

/// The tools that other tests lean on.
@Suite struct SupportTests {
    @Test func splitsATableAtTwoSpaces() {
        let table = TextTable(
            """
            had       heard and said   told
            # A remark.
            until 30  active 60        grant 60

            -         -                a b
            """)
        #expect(table.head == ["had", "heard and said", "told"])
        #expect(table.rows == [["until 30", "active 60", "grant 60"], ["-", "-", "a b"]])
    }

    @Test func theSeedRepeatsTheNumbers() {
        var (one, two) = (SeededGenerator(seed: 7), SeededGenerator(seed: 7))
        #expect((0..<10).map { _ in one.next() } == (0..<10).map { _ in two.next() })
        // From the reference implementation, https://prng.di.unimi.it/splitmix64.c.
        var reference = SeededGenerator(seed: 1_234_567)
        #expect(reference.next() == 6_457_827_717_110_365_317)
    }

    @Test func capturesMoreThanAPipeHolds() async throws {
        let run = try await ChildProcess.run(
            "sh", ["-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo e >&2; exit 3"])
        #expect(run.exit == .code(3))
        #expect(run.standardOutput.utf8.count == 3_000_000)
        #expect(run.standardError == "e\n")
    }

    @Test func waitsForALineAndSendsSignals() async throws {
        let child = try ChildProcess(
            "sh", ["-c", "echo before; echo \"ready $NAME\"; exec sleep 600"],
            environment: ["NAME": "now", "PATH": "/usr/bin:/bin"], workingFolder: "/")
        #expect(try await child.line { $0.hasPrefix("ready") } == "ready now")
        await #expect(throws: ChildProcess.Failure.stillRunning) {
            try await child.exit(within: .milliseconds(1))
        }
        child.send(SIGTERM)
        #expect(try await child.exit() == .signal(SIGTERM))
        await #expect(throws: ChildProcess.Failure.self) { try await child.line { _ in false } }
        #expect(child.lines == ["before", "ready now"])
    }

    @Test func reportsAProgramThatIsNotThere() async throws {
        let run = try await ChildProcess.run("/nonexistent/program")
        #expect(run.exit == .code(127))
    }
}
