import Foundation
import Testing

/// Every row of the references' case tables, as `Tables/sources.txt` lists them.
struct Source: Hashable, CustomStringConvertible {
    let table: String
    /// Such as `8.2 #5`, or `5.1 v1`: the section, and the row or what is meant in it.
    let row: String
    /// What the row is about.
    let about: String
    /// Why there is no case for it.
    let leftOut: String?

    var description: String { "\(table) \(row)" }

    static let all: [Source] = {
        let file = CaseTable.folder.appending(path: "sources.txt")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { Source(String($0)) }
    }()

    /// Two words name a row, three where the second is a word such as `rule`.
    private init(_ line: String) {
        let halves = line.components(separatedBy: "; left out: ")
        leftOut = halves.count > 1 ? halves[1] : nil
        let words = halves[0].split(separator: " ").map { String($0) }
        table = words[0]
        let isNumbered = ["rule", "note", "code"].contains(words[2])
        let last = isNumbered ? 3 : 2
        row = words[1...last].joined(separator: " ")
        about = words[(last + 1)...].joined(separator: " ")
    }
}

@Suite struct SourceTests {
    @Test func hasACaseForEachRowOfTheReferences() {
        let played = Set(
            CaseTable.all.flatMap { table in
                table.cases.flatMap { item in item.sources.map { "\(table.name) \($0)" } }
            })
        for source in Source.all {
            let isPlayed = played.contains(source.description)
            #expect(isPlayed == (source.leftOut == nil), "\(source)")
        }
        let listed = Set(Source.all.map(\.description))
        #expect(listed.count == Source.all.count, "a row is listed twice")
        #expect(played.subtracting(listed).sorted() == [], "cases without a source that is listed")
    }

    /// What has no case can have none: the store has no answer that shows it.
    @Test func leavesNothingOutWithoutAReason() {
        let leftOut = Source.all.filter { $0.leftOut != nil }
        #expect(leftOut.allSatisfy { ($0.leftOut?.count ?? 0) > 20 })
    }
}
