import TestSupport
import Testing

/// `renewald doctor` as docs/operations.md has it: with the daemon's user and credentials.
@Suite(.serialized, .enabled(if: Machine.isPossible), .timeLimit(.minutes(5)))
struct DoctorTests {
    @Test func looksAtTheInstalledUnitsWithTheDaemonsCredentials() async throws {
        try await onSite { site in
            let property = "--property=LoadCredential="
            let place = ":/etc/renewald/credentials/"
            let output = try await site.machine.run(
                "systemd-run", "--pipe", "--wait", "--collect", "--uid=renewald",
                "\(property)apple.p8\(place)apple.p8",
                "\(property)apple-shared-secret\(place)apple-shared-secret",
                "\(property)google.json\(place)google.json",
                "\(property)amazon-secret\(place)amazon-secret", "renewald", "doctor")
            let lines = output.standardOutput.split(separator: "\n")
            for name in ["apple", "google", "amazon"] {
                #expect(lines.contains { $0.hasPrefix("ok       \(name) ") }, "\(name)")
            }
            let units = lines.filter { $0.split(separator: " ").dropFirst().first == "units" }
            #expect(units.count == 5, "\(output.standardOutput)")
            #expect(units.allSatisfy { $0.hasPrefix("ok ") }, "\(units)")
        }
    }
}
