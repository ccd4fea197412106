import Foundation
import TestSupport
import Testing

/// The daemon under a real systemd.
@Suite(.serialized, .enabled(if: Machine.isPossible), .timeLimit(.minutes(5)))
struct ServiceTests {
    @Test func isReadyWithItsCredentialsAndSaysHowItGoes() async throws {
        try await onSite { site in
            try await site.machine.succeed("systemctl", "start", "renewald")
            #expect(try await site.machine.property("ActiveState") == "active")
            let began = try await site.machine.property("ExecMainStartTimestampMonotonic")
            let ended = try await site.machine.property("ActiveEnterTimestampMonotonic")
            let took = (Int(ended) ?? 0) - (Int(began) ?? 0)
            print("ready after \(took / 1000) ms with three apps")
            for store in ["apple", "google", "amazon"] {
                try await site.buy(store, count: 1) { _ in "\(store)-user" }
            }
            try await site.wait { try await site.events() == 3 }
            try await site.wait {
                let status = try await site.machine.succeed("systemctl", "status", "renewald")
                return status.contains(
                    "Status: \"Serving 3 apps: 3 purchases checked, 3 events written, "
                        + "0 in flight.\"")
            }
            // The service never sees the folder that they come from.
            let credentials = try await site.machine.succeed(
                "stat", "--format=%U %a", "/etc/renewald/credentials")
            #expect(credentials == "root 700\n")
            #expect(try await site.machine.property("NRestarts") == "0")
        }
    }

    @Test func aReloadChangesARateAndDropsNothing() async throws {
        try await onSite { site in
            // At this rate the test would last for an hour.
            try await site.configure("[engine]\nin_flight = 5", rate: 0.2)
            try await site.machine.succeed("systemctl", "start", "renewald")
            try await site.buy("google", count: 300)
            try await site.wait { try await site.events() >= 1 }
            let process = try await site.machine.property("MainPID")
            let epochs = try await site.value("SELECT sum(epoch) FROM renewald.shard")
            try await site.configure("[engine]\nin_flight = 100", rate: 1000)
            try await site.machine.succeed("systemctl", "reload", "renewald")
            try await site.wait { try await site.events() == 300 }
            #expect(try await site.machine.property("MainPID") == process)
            #expect(
                try await site.value("SELECT sum(epoch) FROM renewald.shard") == epochs,
                "no shard was given back")
            #expect(
                try await site.value("SELECT count(DISTINCT purchase_id) FROM renewald.events")
                    == "300")
            #expect(try await site.control("calls", nil).contains(#""duplicates":0"#))
            #expect(try await site.machine.property("ActiveState") == "active")
        }
    }

    @Test func aFaultyConfigurationIsRefusedWithAllItsFaults() async throws {
        try await onSite { site in
            try await site.machine.succeed("systemctl", "start", "renewald")
            try await site.configure("[engine]\nin_flight = 0\npol = \"PT1S\"")
            try await site.machine.succeed("systemctl", "reload", "renewald")
            try await site.machine.waitForLine {
                $0.contains("the old configuration stays in force")
            }
            let log = try await site.machine.journal("--unit=renewald")
            #expect(log.contains("engine.in_flight"))
            #expect(log.contains("engine.pol"))
            try await site.wait {
                try await site.machine.property("StatusText").contains(
                    "configuration has 2 faults")
            }
            #expect(try await site.machine.property("ActiveState") == "active")
            try await site.buy("amazon", count: 1)
            try await site.wait { try await site.events() == 1 }
            // A good one is taken, and what it cannot change now is told.
            try await site.configure("[engine]\nbatch = 7")
            try await site.machine.succeed("systemctl", "reload", "renewald")
            try await site.wait {
                let status = try await site.machine.property("StatusText")
                return status.hasSuffix("A restart is needed for engine.batch.")
                    && !status.contains("faults")
            }
        }
    }

    /// Freezes one thread of a process, as a bug in its loop would. It says "frozen" and holds on.
    private static let freezer = """
        import ctypes, os, sys
        process, name = sys.argv[1:]
        trace = ctypes.CDLL(None, use_errno=True).ptrace
        trace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        seize, interrupt = 0x4206, 0x4207
        frozen = 0
        for thread in os.listdir(f"/proc/{process}/task"):
            if open(f"/proc/{process}/task/{thread}/comm").read().strip() == name:
                for request in seize, interrupt:
                    if trace(request, int(thread), None, None) != 0:
                        sys.exit(f"ptrace: {ctypes.get_errno()}")
                frozen += 1
        print("frozen" if frozen else "no such thread", flush=True)
        sys.stdin.read()
        os.waitpid(-1, 0x40000000)
        """

    @Test func aStuckLoopIsEndedByTheWatchdogAndNothingIsLost() async throws {
        try await onSite { site in
            try await site.machine.override("renewald.service", "[Service]\nWatchdogSec=2s")
            try await site.configure("[engine]\nlease = \"PT15S\"\nin_flight = 20")
            try await site.control("latency", #"{"milliseconds":100}"#)
            try await site.machine.succeed("systemctl", "start", "renewald")
            try await site.buy("google", count: 400)
            try await site.wait { try await site.events() >= 20 }
            // Checks are in hand when it is frozen, however long that takes.
            try await site.control("latency", #"{"milliseconds":20000}"#)
            let process = try await site.machine.property("MainPID")
            try await site.machine.write(Self.freezer, to: "/run/freezer")
            let freezer = try site.machine.start([
                "sh", "-c",
                "echo $$ >/run/freezer.pid; mkfifo /run/hold; exec 3<>/run/hold; "
                    + "exec python3 /run/freezer \(process) renewald.curl <&3",
            ])
            defer { freezer.send(SIGKILL) }
            #expect(try await freezer.line { _ in true } == "frozen")
            try await site.control("latency", #"{"milliseconds":100}"#)
            try await site.machine.waitForLine { $0.contains("no progress in") }
            try await site.machine.waitForLine { $0.contains("Watchdog timeout") }
            // It would keep the dead from being buried.
            try await site.machine.succeed("sh", "-c", "kill -KILL $(cat /run/freezer.pid)")
            try await site.wait { try await site.machine.property("NRestarts") == "1" }
            try await site.wait(within: .seconds(120)) { try await site.events() == 400 }
            #expect(
                try await site.value("SELECT count(DISTINCT purchase_id) FROM renewald.events")
                    == "400")
        }
    }

    @Test func aStopUnderLoadFinishesWhatIsInHandAndGivesTheLeasesBack() async throws {
        try await onSite { site in
            // Shorter than a check: the daemon has to ask for more time.
            try await site.machine.override("renewald.service", "[Service]\nTimeoutStopSec=1s")
            try await site.configure("[engine]\nin_flight = 50")
            try await site.machine.succeed("systemctl", "start", "renewald")
            try await site.buy("google", count: 500)
            try await site.wait { try await site.events() >= 1 }
            try await site.control("latency", #"{"milliseconds":3000}"#)
            let slow = try await site.calls("google")
            try await site.wait { try await site.calls("google") > slow }
            try await site.machine.succeed("systemctl", "stop", "renewald")
            #expect(try await site.machine.property("Result") == "success")
            #expect(try await site.machine.property("ExecMainStatus") == "0")
            #expect(
                try await site.value(
                    "SELECT count(*) FROM renewald.shard WHERE lease_until > now()") == "0")
            #expect(try await site.value("SELECT count(*) FROM renewald.worker") == "0")
            #expect(
                try await site.value(
                    "SELECT count(*) FROM renewald.purchases WHERE problem IS NOT NULL") == "0",
                "no check was counted as failed")
            #expect(
                try await site.value("SELECT count(*) FROM renewald.shard WHERE in_hand <> '{}'")
                    == "0")
            // What was asked about before the stop was committed, so nothing is asked about twice.
            try await site.control("latency", #"{"milliseconds":0}"#)
            try await site.machine.succeed("systemctl", "start", "renewald")
            try await site.wait { try await site.events() == 500 }
            #expect(try await site.control("calls", nil).contains(#""duplicates":0"#))
        }
    }

    @Test func aDatabaseThatIsAwayIsWaitedFor() async throws {
        try await onSite { site in
            try await site.cluster.stop()
            try await site.machine.succeed("systemctl", "start", "renewald")
            #expect(try await site.machine.property("ActiveState") == "active")
            #expect(
                try await site.machine.property("StatusText")
                    .hasPrefix("Waiting for the database: "))
            try await site.cluster.start()
            try await site.machine.waitForLine { $0.contains("the database answers") }
            try await site.buy("google", count: 1)
            try await site.wait { try await site.events() == 1 }
            #expect(try await site.machine.property("NRestarts") == "0")
        }
    }
}
