import Configuration
import FoundationEssentials
import Testing

/// `etc/renewald.toml`, and the page about reloads, say what the program does. After a change of
/// the keys write them anew with
/// `RENEWALD_WRITE_CONFIGURATION=1 swift test --filter CommentedConfigurationTests`.
@Suite struct CommentedConfigurationTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let isWritten =
        ProcessInfo.processInfo.environment["RENEWALD_WRITE_CONFIGURATION"] != nil

    @Test func isInStepWithTheKeys() throws {
        let expected = ConfigurationSection.commentedFile()
        let path = Self.root.appending(path: "etc/renewald.toml")
        if Self.isWritten { try Data(expected.utf8).write(to: path) }
        let written = try String(contentsOf: path, encoding: .utf8)
        #expect(written == expected)
    }

    @Test func tellsWhatAReloadChanges() throws {
        let path = Self.root.appending(path: "docs/operations.md")
        let table = ConfigurationSection.reloadTable()
        var page = try String(contentsOf: path, encoding: .utf8)
        if Self.isWritten,
            let old = page.firstRange(of: /\| table \| at once \|.*?\n\n/.dotMatchesNewlines())
        {
            page.replaceSubrange(old, with: table + "\n")
            try Data(page.utf8).write(to: path)
        }
        #expect(page.contains("\n\n" + table + "\n"))
    }

    @Test func changesNothingAsItIs() throws {
        let text = ConfigurationSection.commentedFile()
        let commented = try Settings.parse(text: text, file: "f", environment: [:])
        let empty = try Settings.parse(text: "", file: "f", environment: [:])
        #expect(commented.policy == empty.policy)
        #expect(commented.engine == empty.engine)
        #expect(commented.stores == empty.stores)
        #expect(commented.apps.isEmpty)
    }

    /// A bare `#` before a key is taken away; `# ` begins an explanation.
    @Test func isValidWithEveryKeyTakenUp() throws {
        let text = ConfigurationSection.commentedFile()
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0 }
            .joined(separator: "\n")
        do {
            let configuration = try Settings.parse(text: text, file: "f", environment: [:])
            #expect(configuration.apps.count == 3)
        } catch {
            Issue.record(error)
        }
    }

    @Test func fitsTheLine() {
        let lines = ConfigurationSection.commentedFile().split(separator: "\n")
        #expect(lines.filter { $0.count > 100 } == [])
    }

    @Test func describesEachKeyOnce() {
        for section in ConfigurationSection.all {
            let names = section.keys.map(\.name)
            #expect(Set(names).count == names.count, "\(section.name)")
        }
    }
}
