import FoundationEssentials
import Testing

@testable import Daemon

/// `Sources/Daemon/Doctor/UnitDigests.swift` knows the unit files of this version. After a change
/// of one write it anew with `RENEWALD_WRITE_UNITS=1 swift test --filter UnitDigestTests`.
@Suite struct UnitDigestTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func areInStepWithTheUnitFiles() throws {
        let folder = Self.root.appending(path: "systemd")
        var lines: [String] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        where name.hasSuffix(".service") || name.hasSuffix(".timer") {
            let digest = UnitCheck.digest(of: try Data(contentsOf: folder.appending(path: name)))
            lines.append("        \"\(name)\":\n            \"\(digest)\",")
        }
        let expected = """
            /// The SHA-256 of each unit file of this version, in hexadecimal.
            enum UnitDigests {
                static let all: [String: String] = [
            \(lines.joined(separator: "\n"))
                ]
            }

            """
        let file = Self.root.appending(path: "Sources/Daemon/Doctor/UnitDigests.swift")
        if ProcessInfo.processInfo.environment["RENEWALD_WRITE_UNITS"] != nil {
            try Data(expected.utf8).write(to: file)
        }
        let written = try String(contentsOf: file, encoding: .utf8)
        #expect(
            written == expected,
            "run RENEWALD_WRITE_UNITS=1 swift test --filter UnitDigestTests, and build again")
    }

    @Test func everyUnitFileNamesThisVersion() throws {
        for name in UnitDigests.all.keys {
            let file = Self.root.appending(path: "systemd/\(name)")
            #expect(UnitCheck.version(in: try Data(contentsOf: file)) == Version.text, "\(name)")
        }
    }
}
