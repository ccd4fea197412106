import Foundation
import Testing

/// The house rules that neither the compiler nor the formatter holds, on the checkout as it is.
@Suite struct TidyTests {
    private static let files = Result { try SourceTree.files() }

    @Test(arguments: TidyRule.all)
    func holds(_ rule: TidyRule) throws {
        let files = try Self.files.get()
        #expect(files.contains { $0.path == "Package.swift" })
        for violation in files.flatMap(rule.violations) {
            Issue.record("\(violation)")
        }
    }

    @Test func tracksNothingLargeOrBuilt() throws {
        let paths = try SourceTree.tracked()
        #expect(TidyRule.misplaced(paths.map { ($0, SourceTree.sizeBytes($0)) }) == [])
    }

    @Test func knowsWhatIsSpreadOnCitus() throws {
        let script = try Self.files.get().first { $0.path.hasSuffix("/distribute.sql") }
        let list = try #require(script?.text.firstMatch(of: #/ARRAY\[([^\]]*)\]/#)?.1)
        #expect(list.matches(of: #/'(\w+)'/#).map { String($0.1) } == CitusRules.distributed)
    }

    @Test func namesOnlyDocumentsThatExist() throws {
        let files = try Self.files.get()
        guard let readme = files.first(where: { $0.path == "README.md" }) else { return }
        let existing = Set(try SourceTree.tracked())
        #expect(TidyRule.missingDocuments(readme: readme.text, existing: existing) == [])
    }
}
