import Foundation
import TestSupport
import Testing

/// What is in the program, and what it loads: nothing that nobody has looked at.
struct LinkedTests {
    /// Of the operating system, in the package as well.
    private static let system: Set<String> = [
        "libcurl.so.4", "libpq.so.5", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libc.so.6",
        "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
    ]
    /// Of the toolchain, in a build for tests: the package has them linked in.
    private static let toolchain = [
        "libswift", "libBlocksRuntime.so", "libdispatch.so", "libFoundation", "lib_Foundation",
    ]

    private func output(_ command: String, _ words: String...) async throws -> [Substring] {
        let output = try await ChildProcess.run(command, words)
        guard output.exit == .code(0) else { throw SiteFailure(output.standardError) }
        return output.standardOutput.split(separator: "\n")
    }

    @Test func nothingUnexpectedIsLoaded() async throws {
        let lines = try await output("objdump", "-p", Site.program("renewald"))
        let needed = lines.filter { $0.contains("NEEDED") }
            .compactMap { $0.split(separator: " ").last.map(String.init) }
        #expect(needed.contains("libcurl.so.4") && needed.contains("libpq.so.5"))
        for library in needed where !Self.system.contains(library) {
            #expect(Self.toolchain.contains { library.hasPrefix($0) }, "\(library)")
        }
        #expect(!lines.contains { $0.contains("RPATH") && !$0.contains("RUNPATH") })
    }

    @Test func theProgramNamesEveryPackageThatIsLinkedIn() async throws {
        let program = Site.program("renewald")
        let told = try await output(program, "--version", "--verbose").map(String.init)
        #expect(told.count > 3 && told[1].hasPrefix("libcurl/") && told[2].hasPrefix("libpq/"))
        let lines = try await output("\(Machine.root)/scripts/linked", program)
        let found = lines.drop { !$0.hasPrefix("Linked in, Swift packages:") }.dropFirst()
            .prefix { $0.hasPrefix("  ") }
            .map { $0.split(separator: " ").joined(separator: "/") }
        #expect(Set(told.dropFirst(3)) == Set(found), "Sources/Daemon/LinkedPackages.swift")
        #expect(!found.isEmpty && !found.contains { $0.contains("http2") || $0.contains("ssl") })
    }
}
