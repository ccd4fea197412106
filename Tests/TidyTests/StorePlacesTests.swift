import Foundation
import Testing

/// Where our code knows a store by name: docs/architecture.md tells what a fourth one touches.
@Suite struct StorePlacesTests {
    /// The files that are a store's own.
    private static let own = [
        "Sources/Stores/", "Sources/StoreSimulator/", "Sources/storesim/",
        "Sources/Daemon/Stores/Apple.swift", "Sources/Daemon/Stores/Google.swift",
        "Sources/Daemon/Stores/Amazon.swift",
    ]

    @Test func areThoseOfTheArchitecture() throws {
        let document = try SourceTree.files().first { $0.path == "docs/architecture.md" }
        let text = try #require(document).text
        let sections = text.components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix("To add a store") })
        let told = section.matches(of: /`(\w+\/[\w\/]+\.swift)`/).map { "Sources/\($0.1)" }
            .filter { !$0.contains("NAME") && !$0.contains("Tests/") }
        let found = try SourceTree.files().filter { file in
            file.path.hasPrefix("Sources/") && file.path.hasSuffix(".swift")
                && !Self.own.contains { file.path.hasPrefix($0) }
                && [".apple", ".google", ".amazon", "case apple"].contains(where: file.mentions)
                && Self.namesAStore(file.text)
        }
        #expect(Set(found.map(\.path)) == Set(told))
    }

    /// In code, not in comments and texts.
    private static func namesAStore(_ text: String) -> Bool {
        text.split(separator: "\n").contains { line in
            let code = line.replacing(/"[^"]*"|\[store\.\w+\]/, with: "")
                .replacing(/\/\/.*/, with: "")
            return code.contains(/\.(apple|google|amazon)(?!\w)|case apple,/)
        }
    }

    @Test func findsOneInCodeAlone() {
        #expect(Self.namesAStore("    case .apple: 1"))
        #expect(Self.namesAStore("settings.google.api"))
        #expect(!Self.namesAStore("/// Only `.apple` has it."))
        #expect(!Self.namesAStore("Look at [store.apple] and \"store.apple\"."))
    }
}
