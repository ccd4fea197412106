import Foundation
import TestSupport
import Testing

/// What `make release` makes, of the program that is there.
@Suite(.serialized, .enabled(if: PackageTool.canBuild), .timeLimit(.minutes(10)))
struct ReleaseTests {
    @Test func hasPackageArchiveSumsAndWhatIsLinked() async throws {
        let folder = "/tmp/rw-release-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var environment = ProcessInfo.processInfo.environment
        environment["RENEWALD_PROGRAM"] = Site.program("renewald")
        // Small is not needed here, soon is.
        environment["RENEWALD_DEB_FLAGS"] = "-Zgzip -z1"
        environment["RENEWALD_GZIP"] = "1"
        environment["DEB_BUILD_OPTIONS"] = "nostrip noautodbgsym"
        func succeed(_ command: String, _ words: String...) async throws -> String {
            let output = try await ChildProcess.run(
                command, words, environment: environment, workingFolder: nil,
                within: .seconds(300))
            guard output.exit == .code(0) else { throw SiteFailure(output.standardError) }
            return output.standardOutput
        }
        let said = try await succeed("\(Machine.root)/scripts/release", folder)
        #expect(said.hasPrefix("renewald "))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let archive = try #require(names.first { $0.hasSuffix(".tar.gz") })
        let list = try #require(names.first { $0.hasSuffix(".linked.txt") })
        let package = try #require(names.first { $0.hasSuffix(".deb") })
        #expect(names.count == 4)

        // The sums are of these three, and agree.
        let sums = try await succeed(
            "bash", "-c", "cd \(folder) && sha256sum --check --strict SHA256SUMS")
        #expect(
            Set(sums.split(separator: "\n").map(String.init))
                == Set([archive, list, package].map { "\($0): OK" }))

        // Unpacked over / it replaces nothing that a person has written, and it runs.
        let top = archive.replacing(".tar.gz", with: "")
        _ = try await succeed("tar", "-xzf", "\(folder)/\(archive)", "-C", folder)
        for file in [
            "bin/renewald", "lib/systemd/system/renewald.service",
            "lib/sysusers.d/renewald.conf", "share/man/man1/renewald.1",
            "share/doc/renewald/README.md", "share/doc/renewald/docs/upgrading.md",
            "share/doc/renewald/linked.txt", "share/doc/renewald/etc/renewald.toml",
        ] {
            #expect(
                FileManager.default.fileExists(atPath: "\(folder)/\(top)/usr/\(file)"), "\(file)")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/\(top)/etc"))
        let version = try await succeed("\(folder)/\(top)/usr/bin/renewald", "--version")
        #expect(said.hasPrefix(version))

        // Whoever reads the documents of a machine finds what they name, as they are.
        _ = try await succeed("dpkg-deb", "-x", "\(folder)/\(package)", "\(folder)/package")
        for place in ["\(folder)/\(top)", "\(folder)/package"] {
            let links = try Self.links(in: "\(place)/usr/share/doc/renewald")
            #expect(links.count > 60)
            let dead = links.filter { !FileManager.default.fileExists(atPath: $0) }
            #expect(dead.isEmpty)
        }

        let linked = try String(contentsOfFile: "\(folder)/\(list)", encoding: .utf8)
        #expect(linked.contains(version) && linked.contains("libcurl/"))
        #expect(linked.contains(/\n  swift-certificates +[0-9.]+\n/))
        #expect(linked.contains(/\n  libcurl\.so\.4 +libcurl4 [0-9]/))
        // Packages of the simulator alone are not in the daemon.
        #expect(!linked.contains("swift-nio-http2"))
    }

    /// The files that documents in a folder name in links.
    private static func links(in folder: String) throws -> [String] {
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
        return try (files ?? []).filter { $0.hasSuffix(".md") }.flatMap { file in
            let words = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            let place = URL(filePath: "\(folder)/\(file)").deletingLastPathComponent()
            return words.matches(of: /\]\(([^):#]+)(#[^)]*)?\)/).map { link in
                place.appending(path: String(link.1)).standardizedFileURL.path()
            }
        }
    }
}
