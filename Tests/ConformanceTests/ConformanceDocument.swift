import Foundation
import TestSupport
import Testing

/// The second part of `docs/decisions.md`: each store's answers, made from the tables that are
/// played. The first part is made by `RenewalTests`, and ends at the mark.
@Suite struct ConformanceDocument {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/decisions.md").standardizedFileURL

    /// `RENEWALD_WRITE_DOCS=1` writes the part anew.
    @Test func showsTheTablesThatArePlayed() throws {
        let written = try String(contentsOf: Self.file, encoding: .utf8)
        let first = written.components(separatedBy: DecisionPage.mark)[0]
        let page = first + DecisionPage.mark + Self.part
        if ProcessInfo.processInfo.environment["RENEWALD_WRITE_DOCS"] == "1" {
            try page.write(to: Self.file, atomically: false, encoding: .utf8)
        }
        let isSame = try String(contentsOf: Self.file, encoding: .utf8) == page
        #expect(isSame, "docs/decisions.md is old: run the tests with RENEWALD_WRITE_DOCS=1")
    }

    private static var part: String {
        var part = preface
        for (table, title) in zip(CaseTable.all, ["Amazon", "Google", "Apple"]) {
            part += "\n# \(title)\n"
            for section in table.sections {
                part += "\n## \(title): \(section.title)\n\n"
                if !section.prose.isEmpty {
                    part += section.prose.joined(separator: "\n") + "\n\n"
                }
                part += "| source | case | known | day | answer | seen | state | access | told |"
                part += " asked again |\n| " + String(repeating: "--- | ", count: 10)
                part = part.trimmingCharacters(in: .whitespaces) + "\n"
                part += section.cases.map(rows).joined()
            }
        }
        part += "\n# Left out\n\n"
        for source in Source.all {
            guard let reason = source.leftOut else { continue }
            part += "- \(source), \(source.about): \(reason).\n"
        }
        return part
    }

    private static func rows(_ item: ConformanceCase) -> String {
        var rows = ""
        for (index, step) in item.steps.enumerated() {
            let isFirst = index == 0
            let stands = step.expected[1].split(separator: " ").map { DecisionPage.code($0) }
            var cells =
                isFirst
                ? [item.sources.joined(separator: ", "), item.title, known(item)] : ["", "", "″"]
            cells += [step.day, DecisionPage.code(step.wire), step.expected[0]] + stands
            cells += [DecisionPage.told(step.expected[2]), step.expected[3]]
            rows += DecisionPage.row(cells)
        }
        return rows
    }

    private static func known(_ item: ConformanceCase) -> String {
        var words = item.known.map { DecisionPage.code($0.wire) + " on \($0.day)" }
        if words.isEmpty { words = ["`new`"] }
        let options =
            item.options.plain.map { DecisionPage.code($0) }
            + item.options.values.sorted { $0.key < $1.key }.map {
                DecisionPage.code("\($0.key)=\($0.value)")
            }
        return (words + options).joined(separator: "; ")
    }

    private static let preface = """

        # Store by store

        The same rules, beginning with the bytes: what each store answers, what renewald reads in it, and
        what it decides. `Tests/ConformanceTests` plays every row through the whole code, from the bytes of
        the answer to the events; only the network is a fake, and Apple's answers are really signed. The
        tables are the texts in `Tests/ConformanceTests/Tables`.

        How to read it:

        - **Source** is a row of the list of everything that a store can say,
          `Tests/ConformanceTests/Tables/sources.txt`. Every row there has a case, or a reason below.
        - **Known** are the earlier answers, each with its day; `new` has never been
          checked. Settings of the case follow: `v1` is Google's old
          interface, `no_key` is an Apple app without a key, `token=` is what was submitted, `product=` its
          product if it is not `plus`, `B=` the product of a second purchase of the same user, `user=`
          their id, `others=` the original id of what another user has handed in.
        - **Answer** stands for the bytes. Amazon: `renews 30` is the end of the term, `off` no renewal.
          Google: state, end and orders (`1..0` is the first renewal of order 1), further items after `+`.
          Apple: `1:30` is status 1 with `expiresDate` on day 30; `info`, `history`, `refunds` and `verify`
          are the other endpoints, `sandbox` the other host. `B:` is an answer about the second purchase.
        - **Seen** is the answer in the words that all stores share; `to 33` is the end of access,
          `paid 30` the end of the paid time if that differs. A `doubt` is bad news that needs a second
          answer; `no answer` changes nothing.

        """
}
