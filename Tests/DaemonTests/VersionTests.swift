import Foundation
import TestSupport
import Testing

@testable import Daemon

/// What the program says of itself agrees with what is written beside it.
@Suite struct VersionTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// `## 0.2.0, unreleased` while `0.2.0-dev` is worked on; `## 0.2.0` when it is released.
    @Test func theFirstSectionOfTheChangelogIsAboutThisVersion() throws {
        let text = try String(
            contentsOf: Self.root.appending(path: "CHANGELOG.md"), encoding: .utf8)
        let headings = text.split(separator: "\n").filter { $0.hasPrefix("## ") }
        let parts = Version.text.split(separator: "-")
        let expected = "## \(parts[0])" + (parts.count > 1 ? ", unreleased" : "")
        #expect(headings.first.map(String.init) == expected)
        #expect(headings.dropFirst().allSatisfy { !$0.contains("unreleased") })
    }

    @Test func namesTheLibrariesThatAreLinked() throws {
        let libraries = Version.libraries
        #expect(libraries.count == 2)
        #expect(libraries[0].contains(/^libcurl\/[0-9.]+.* OpenSSL\/[0-9.]+/))
        #expect(libraries[1].contains(/^libpq\/1[5-9]\.[0-9]+$/))
    }

    @Test func aBuildIsToldItsCommitAndWhetherItWasChanged() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/rw-stamp-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(
            atPath: "\(folder)/scripts", withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: Self.root.path + "/scripts/stamp", toPath: "\(folder)/scripts/stamp")
        func git(_ words: String...) async throws -> String {
            let author = ["-c", "user.name=ann", "-c", "user.email=ann@example.com"]
            let output = try await ChildProcess.run("git", ["-C", folder] + author + words)
            #expect(output.exit == .code(0), "\(output.standardError)")
            return output.standardOutput
        }
        func stamp() async throws -> [String: String] {
            var environment = ProcessInfo.processInfo.environment
            environment["RENEWALD_COMMIT"] = "0xolder"
            let output = try await ChildProcess.run(
                "\(folder)/scripts/stamp", ["env"], environment: environment)
            #expect(output.exit == .code(0), "\(output.standardError)")
            let lines = output.standardOutput.split(separator: "\n")
            return Dictionary(
                lines.map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
                    .filter { $0.count == 2 && $0[0].hasPrefix("RENEWALD_") }
                    .map { ($0[0], $0[1]) }, uniquingKeysWith: { $1 })
        }
        // An unpacked source has no commit.
        #expect(try await stamp()["RENEWALD_COMMIT"] == nil)
        _ = try await git("init", "--quiet")
        _ = try await git("add", ".")
        _ = try await git("commit", "--quiet", "-m", "one")
        let commit = try await git("rev-parse", "HEAD")
        let clean = try await stamp()
        #expect(clean["RENEWALD_COMMIT"] == "0x\(commit.prefix(12))")
        #expect(clean["RENEWALD_CHANGED"] == "0")
        #expect(clean["RENEWALD_SWIFT"]?.contains(/^[0-9]{5,6}$/) == true)
        try Data().write(to: URL(filePath: "\(folder)/new.swift"))
        #expect(try await stamp()["RENEWALD_CHANGED"] == "1")
    }
}
