import Foundation
import TestSupport
import Testing

/// The timer, the template and the alert under a real systemd.
@Suite(.serialized, .enabled(if: Machine.isPossible), .timeLimit(.minutes(5)))
struct OtherUnitTests {
    @Test func theTimerRunsAPassAndRemembersIt() async throws {
        try await onSite { site in
            try await site.buy("google", count: 3)
            try await site.machine.override(
                "renewald-once.timer",
                """
                [Timer]
                OnCalendar=
                OnCalendar=*:*:*
                RandomizedDelaySec=0
                AccuracySec=1us
                """)
            try await site.machine.succeed("systemctl", "start", "renewald-once.timer")
            try await site.wait { try await site.events() == 3 }
            try await site.machine.waitForLine(of: "renewald-once.service") {
                $0 == "3 purchases checked, 3 events written."
            }
            try await site.machine.succeed("systemctl", "stop", "renewald-once.timer")
            try await site.machine.succeed(
                "test", "-e", "/var/lib/systemd/timers/stamp-renewald-once.timer")
        }
    }

    @Test func aPassBesideTheDaemonLeavesItsShardsToIt() async throws {
        try await onSite { site in
            try await site.machine.succeed("systemctl", "start", "renewald")
            try await site.buy("google", count: 1)
            try await site.wait { try await site.events() == 1 }
            try await site.machine.succeed("systemctl", "start", "renewald-once")
            #expect(
                try await site.machine.property("Result", of: "renewald-once.service")
                    == "success")
            #expect(try await site.control("calls", nil).contains(#""duplicates":0"#))
        }
    }

    @Test(arguments: ["user/1@x y", "-dash", "ü-1"])
    func aUserIsCheckedByTheTemplate(_ user: String) async throws {
        try await onSite { site in
            try await site.buy("apple", count: 1) { _ in user }
            let unit = try await site.machine.succeed(
                "systemd-escape", "--template=renewald-check@.service", "--", user
            ).trimmingCharacters(in: .newlines)
            try await site.machine.succeed("systemctl", "start", unit)
            #expect(try await site.events() == 1)
            let log = try await site.machine.journal("--unit=renewald-check@*")
            #expect(log.contains("\(user): 1 purchase"))
            #expect(log.contains("grant monthly purchased"))
        }
    }

    @Test func aFaultOfTheConfigurationIsNotRetriedAndRaisesOneAlert() async throws {
        try await onSite { site in
            try await site.configure("[engine]\nin_flight = 0")
            let start = try await site.machine.run("systemctl", "start", "renewald")
            #expect(start.exit == .code(1))
            #expect(try await site.machine.property("ExecMainStatus") == "78")
            #expect(try await site.machine.property("NRestarts") == "0")
            try await site.machine.waitForLine(of: "renewald-alert@renewald.service.service") {
                $0.hasPrefix("renewald.service has failed: exit-code, exited 78. See: journal")
            }
            let alerts = try await site.machine.journal("--identifier=renewald-alert")
            #expect(alerts.split(separator: "\n").count == 1)
        }
    }

    @Test func aCredentialThatIsMissingIsNamed() async throws {
        try await onSite(prepare: { tree in
            try FileManager.default.removeItem(
                atPath: "\(tree)/etc/renewald/credentials/google.json")
        }) { site in
            _ = try await site.machine.run("systemctl", "start", "renewald")
            #expect(try await site.machine.property("ExecMainStatus") == "78")
            let log = try await site.machine.journal("--unit=renewald")
            #expect(log.contains("app.service_account"))
            #expect(log.contains("the credential google.json is empty"))
        }
    }
}
