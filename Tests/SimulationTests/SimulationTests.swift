import Foundation
import TestSupport
import Testing

/// Whole fleets on a virtual clock. Each run is a process of its own, as it takes the clocks and the
/// executor of its process for itself.
@Suite(.timeLimit(.minutes(10)))
struct SimulationTests {
    @Test func theSameSeedIsTheSameRun() async throws {
        let plan = ["--seed", "7", "--fleet", "20", "--days", "30"]
        let first = try await Self.soak(plan)
        #expect(first.exit == .code(0), "\(first.standardOutput)")
        #expect(first.digests.count == 1)
        #expect(try await Self.soak(plan).digests == first.digests)
        let two = try await Self.soak(
            ["--seed", "6", "--seeds", "2", "--fleet", "20", "--days", "30"])
        #expect(two.digests.count == 2 && two.digests[0] != first.digests[0])
        #expect(two.digests[1] == first.digests[0])
    }

    @Test func fleetsAreNeverJudgedWrong() async throws {
        let run = try await Self.soak(
            ["--seed", "1", "--seeds", "3", "--fleet", "30", "--days", "90"])
        #expect(run.exit == .code(0), "\(run.standardOutput)")
    }

    /// Each check waits for half an hour for its call: it is judged as of then, by a database and a
    /// store that agree.
    @Test func aCallThatWaitsForLongBlamesNoClock() async throws {
        let run = try await Self.soak(
            ["--seed", "9", "--fleet", "40", "--days", "38", "--calls", "120", "--forecast", "5"])
        #expect(run.exit == .code(0), "\(run.standardOutput)")
    }

    /// A rule that is broken on purpose is noticed, and told with the life of one customer.
    @Test(arguments: [
        ("outage", "no verdict, no revoke", ["--seed", "1", "--seeds", "3", "--fleet", "40"]),
        ("starve", "nothing starves", ["--seed", "1", "--seeds", "3", "--fleet", "40"]),
        ("breaker", "an avalanche is held", ["--seed", "213", "--fleet", "80"]),
    ])
    func whatIsBrokenIsFound(_ sabotage: String, rule: String, _ plan: [String]) async throws {
        let run = try await Self.soak(
            plan + ["--days", "40", "--shrink", "1", "--sabotage", sabotage])
        #expect(run.exit == .code(1))
        #expect(run.standardOutput.contains("  \(rule) ("), "\(run.standardOutput)")
    }

    /// The store calls everybody expired now and then, and the breaker trips.
    @Test func anAvalancheIsHeld() async throws {
        let run = try await Self.soak(["--seed", "213", "--fleet", "80", "--days", "40"])
        #expect(run.exit == .code(0), "\(run.standardOutput)")
        for (what, least) in [("lies believed", 1), ("breaker trips", 1), ("revokes held", 1)] {
            #expect(try run.count(of: what) >= least, "\(what)")
        }
    }

    /// With everything on nothing is left out, and the report counts it.
    @Test func everyTroubleIsMet() async throws {
        let run = try await Self.soak(
            ["--seed", "3", "--fleet", "20", "--days", "120", "--features", "all"])
        #expect(run.exit == .code(0), "\(run.standardOutput)")
        let line = try #require(
            run.standardOutput.split(separator: "\n").first { $0.hasPrefix("trouble: ") })
        let counts = line.dropFirst("trouble: ".count).split(separator: ", ")
        #expect(counts.count == 11 && !counts.contains { $0.hasSuffix(" 0") }, "\(line)")
        for what in ["crashes", "stops in order", "stalls"] {
            #expect(try run.count(of: what) > 0, "\(run.standardOutput)")
        }
    }

    /// `renewald plan` of a day, against the four weeks that follow it. Chance alone makes small
    /// fleets differ by more where payments fail: nobody's do here.
    @Test func whatIsForecastComes() async throws {
        let run = try await Self.soak(
            ["--seed", "9", "--fleet", "300", "--days", "130", "--forecast", "65"])
        #expect(run.exit == .code(0), "\(run.standardOutput)")
        for (figure, bound) in [
            ("calls a day", 0.1), ("sweep, minutes", 0.1), ("p99 expiry, minutes", 0.25),
            ("p99 renewal, minutes", 0.25),
        ] {
            let line = try #require(
                run.standardOutput.split(separator: "\n").first {
                    $0.hasPrefix("  \(figure): forecast ")
                }, "\(run.standardOutput)")
            let words = line.split { " ,".contains($0) }
            let numbers = words.compactMap { Double($0) }
            #expect(numbers.count >= 3 && numbers[1] > 0, "\(line)")
            #expect(abs(numbers[0] / numbers[1] - 1) <= bound, "\(line)")
        }
    }

    private static func soak(_ arguments: [String]) async throws -> ChildProcess.Output {
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let program = tests.deletingLastPathComponent().appendingPathComponent("soak").path
        return try await ChildProcess.run(program, arguments, within: .seconds(300))
    }
}

extension ChildProcess.Output {
    /// Of each run.
    fileprivate var digests: [Substring] {
        standardOutput.split(separator: "\n").compactMap { line in
            line.firstRange(of: "digest ").map { line[$0.upperBound...] }
        }
    }

    /// How often what should sometimes happen did.
    fileprivate func count(of what: String) throws -> Int {
        try #require(
            standardOutput.split { ",:\n".contains($0) }.first { $0.hasPrefix(" \(what) ") }?
                .split(separator: " ").last.flatMap { Int($0) }, "\(standardOutput)")
    }
}
