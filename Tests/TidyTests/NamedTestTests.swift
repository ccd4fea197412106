import Foundation
import Testing

/// What a document says is shown by a test is shown by one that exists.
@Suite struct NamedTestTests {
    @Test(arguments: ["SECURITY.md", "docs/reliability.md", "docs/lessons.md"])
    func everyTestThatADocumentNamesExists(document: String) throws {
        let files = try SourceTree.files()
        let text = try #require(files.first { $0.path == document }).text
        let tests = files.filter { $0.isSwift && $0.isUnder(["Tests"]) }
        let names = text.matches(of: /`((?:[A-Z]\w*\.)?[A-Z]\w*Tests)(?:\.([a-z]\w*))?`/)
        #expect(names.count > 5)
        for name in names {
            let parts = name.output.1.split(separator: ".")
            let suite = parts.last.map(String.init) ?? ""
            let places = tests.filter { file in
                ["struct", "extension", "class"].contains { file.mentions("\($0) \(suite)") }
                    && (parts.count < 2 || file.isUnder(["Tests/\(parts[0])"]))
                    || file.isUnder(["Tests/\(suite)"])
            }
            let isThere = places.contains { file in
                guard let test = name.output.2 else { return true }
                return file.mentions("func \(test)(")
            }
            #expect(isThere, "\(document) names \(name.output.0)")
        }
    }

    /// Each line of what others got wrong names a test, and each title a case that is played.
    @Test func everyLessonIsShown() throws {
        let files = try SourceTree.files()
        let lessons = try #require(files.first { $0.path == "docs/lessons.md" }).text
        let rows = lessons.split(separator: "\n").filter {
            $0.hasPrefix("| ") && !$0.hasPrefix("| ---") && !$0.hasSuffix("| shown by |")
        }
        #expect(rows.count > 75)
        for row in rows {
            let isShown = row.contains(/`\w+Tests\.\w+Tests\.[a-z]\w+`/)
            #expect(isShown, "\(row)")
        }
        let played = files.filter {
            $0.path == "docs/decisions.md" || $0.isUnder(["Tests/EndToEndTests/Cases"])
        }
        for title in lessons.matches(of: /“([^”]+)”/).map(\.output.1) {
            let isPlayed = played.contains {
                $0.text.contains("| \(title) |") || $0.text.contains("\n        \(title)\n")
            }
            #expect(isPlayed, "\(title)")
        }
    }
}
