import Foundation
import TestSupport
import Testing

/// Nothing is lost and nothing is doubled, however a process ends.
@Suite(.serialized)
struct CrashTests {
    @Test func onePassTwiceAtTheSameTimeAsksEachOnce() async throws {
        try await onStage { stage in
            try stage.configure(rate: 100_000)
            let made = try await stage.buy("google", count: 4000)
            try await stage.submit(made, "google") { "u-\($0)" }
            let passes = try [stage.start(["once"]), stage.start(["once"])]
            for pass in passes {
                #expect(try await pass.exit(within: .seconds(300)) == .code(0))
            }
            // What one of them had to leave to the other is found by a third pass, if anything.
            #expect(try await stage.renewald("once").exit == .code(0))
            #expect(try await stage.value("SELECT count(*) FROM renewald.events") == "4000")
            #expect(
                try await stage.value("SELECT count(DISTINCT purchase_id) FROM renewald.events")
                    == "4000")
            #expect(try await stage.questions() == 4000)
        }
    }

    @Test func killedAtAnyMomentLosesAndDoublesNothing() async throws {
        try await onStage { stage in
            try stage.configure("[engine]\nin_flight = 50\nlease = \"PT15S\"", rate: 100_000)
            try await stage.control("latency", #"{"milliseconds":5}"#)
            let made = try await stage.buy("google", count: 3000)
            try await stage.submit(made, "google") { "u-\($0)" }
            var generator = SeededGenerator(seed: Seeds.fresh())
            for round in 1...15 {
                let daemon = try stage.daemon()
                let aim = Int.random(in: 10...200, using: &generator)
                let before = try await stage.events()
                try await stage.wait(within: .seconds(60)) {
                    try await stage.events() >= min(before + aim, 3000)
                }
                daemon.send(SIGKILL)
                #expect(try await daemon.exit() == .signal(9), "round \(round)")
                try await stage.expectConsistent()
                // The killed worker's lease runs out by the database's clock; nobody need wait.
                try await stage.script(
                    """
                    UPDATE renewald.shard SET lease_until = 'epoch' WHERE owner IS NOT NULL;
                    UPDATE renewald.worker SET seen_until = 'epoch';
                    """)
            }
            _ = try stage.daemon()
            do {
                try await stage.wait(within: .seconds(90)) { try await stage.events() == 3000 }
            } catch {
                throw StageFailure(
                    try await stage.value(
                        """
                        SELECT concat('missing ', count(*), ' due ',
                            count(*) FILTER (WHERE due_at <= now()), ' crashes ', max(crashes),
                            ' problems ', min(problem), ' owned ',
                            (SELECT count(*) FROM renewald.shard WHERE lease_until > now()))
                        FROM renewald.schedule WHERE checked_at IS NULL
                        """))
            }
            try await stage.expectConsistent()
            let setAside = try await stage.value(
                "SELECT count(*) FROM renewald.purchases WHERE problem LIKE 'set_aside%'")
            #expect(setAside == "0")
            let overcalls = try await stage.questions() - 3000
            // In flight, and answered but not yet committed.
            #expect(overcalls <= 15 * (50 + 200), "only what was in hand at a kill is asked again")
        }
    }

    @Test func aWorkerThatDiesIsTakenOver() async throws {
        try await onStage { stage in
            try stage.configure("[engine]\nlease = \"PT15S\"", rate: 100_000)
            let first = try stage.daemon()
            try await stage.wait {
                try await stage.value(
                    "SELECT count(*) FROM renewald.shard WHERE owner IS NOT NULL") == "256"
            }
            let second = try stage.daemon()
            try await stage.wait(within: .seconds(60)) {
                try await stage.value(
                    "SELECT count(DISTINCT owner) FROM renewald.shard WHERE owner IS NOT NULL")
                    == "2"
            }
            first.send(SIGKILL)
            let made = try await stage.buy("google", count: 500)
            try await stage.submit(made, "google") { "u-\($0)" }
            try await stage.wait(within: .seconds(60)) { try await stage.events() == 500 }
            second.send(SIGTERM)
            #expect(try await second.exit() == .code(0))
            #expect(
                try await stage.value("SELECT count(*) FROM renewald.shard WHERE owner IS NOT NULL")
                    == "0")
        }
    }

    @Test func stopsInStepsUnderLoad() async throws {
        try await onStage { stage in
            try stage.configure(rate: 100_000)
            try await stage.control("latency", #"{"milliseconds":200}"#)
            let made = try await stage.buy("google", count: 3000)
            try await stage.submit(made, "google") { "u-\($0)" }
            let daemon = try stage.daemon()
            try await stage.wait { try await stage.events() > 200 }
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
            #expect(try await stage.questions() == (try await stage.events()))
            let problems = try await stage.value("SELECT count(problem) FROM renewald.schedule")
            #expect(problems == "0")
            let held = try await stage.value(
                "SELECT count(*) FROM renewald.shard WHERE NOT clean OR owner IS NOT NULL")
            #expect(held == "0")
        }
    }

    /// A pass that a timer or a person ends has not crashed: nothing counts against what it had in
    /// hand, and the next one need not wait for its leases.
    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func onePassStopsInSteps(_ signal: Int32) async throws {
        try await onStage { stage in
            try stage.configure(rate: 100_000)
            try await stage.control("latency", #"{"milliseconds":200}"#)
            let made = try await stage.buy("google", count: 3000)
            try await stage.submit(made, "google") { "u-\($0)" }
            let pass = try stage.start(["once"])
            try await stage.wait { try await stage.events() > 200 }
            pass.send(signal)
            #expect(try await pass.exit() == .code(75))
            #expect(
                pass.standardError.contains(
                    "renewald: interrupted: what was not checked is left to the next pass\n"))
            let events = try await stage.events()
            #expect(pass.standardOutput.hasPrefix("\(events) purchases checked"))
            #expect(events < 3000)
            #expect(try await stage.questions() == events)
            let troubled = try await stage.value(
                "SELECT count(*) FROM renewald.schedule WHERE crashes > 0 OR problem IS NOT NULL")
            #expect(troubled == "0")
            let held = try await stage.value(
                """
                SELECT count(*) FROM renewald.shard
                WHERE NOT clean OR owner IS NOT NULL OR in_hand <> '{}'
                """)
            #expect(held == "0")
            try await stage.control("latency", #"{"milliseconds":0}"#)
            #expect(try await stage.renewald("once").exit == .code(0))
            #expect(try await stage.events() == 3000)
            #expect(try await stage.questions() == 3000)
        }
    }
}
