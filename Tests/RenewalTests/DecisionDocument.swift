import Foundation
import TestSupport
import Testing

/// `docs/decisions.md`: the decision table for readers, made from the one that is tested.
@Suite struct DecisionDocument {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/decisions.md").standardizedFileURL

    /// `RENEWALD_WRITE_DOCS=1` writes the page anew.
    @Test func showsTheTableThatIsTested() throws {
        let old = try String(contentsOf: Self.file, encoding: .utf8)
        let rest = old.range(of: DecisionPage.mark).map { old[$0.lowerBound...] } ?? ""
        let page = Self.page + rest
        if ProcessInfo.processInfo.environment["RENEWALD_WRITE_DOCS"] == "1" {
            try page.write(to: Self.file, atomically: false, encoding: .utf8)
        }
        let written = try String(contentsOf: Self.file, encoding: .utf8)
        let lines = zip(written.split(separator: "\n"), page.split(separator: "\n"))
        for (number, (found, wanted)) in lines.enumerated() where found != wanted {
            Issue.record("line \(number + 1) without blank ones is \(found), not \(wanted)")
            break
        }
        let isSame = written == page
        #expect(isSame, "docs/decisions.md is old: run the tests with RENEWALD_WRITE_DOCS=1")
    }

    private static var page: String {
        var page = preface
        for section in DecisionTable.sections {
            page += "\n## \(section.title)\n\n\(section.prose)\n\n"
            page += "| case | known | day | heard | state | access | told | holds | next check |\n"
            page += "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
            page += section.stories.map(rows).joined()
        }
        return page + OfferTests.page + "\n"
    }

    private static func rows(_ story: Story) -> String {
        var rows = ""
        for (index, step) in story.steps.enumerated() {
            let isFirst = index == 0
            var cells = [
                isFirst ? story.title : "",
                isFirst ? known(story) : "″", step.time, DecisionPage.code(step.heard),
            ]
            cells += step.expected[..<2].map(DecisionPage.code)
            cells += [DecisionPage.told(step.expected[2]), step.expected[3], step.expected[4]]
            rows += DecisionPage.row(cells)
        }
        return rows
    }

    private static func known(_ story: Story) -> String {
        var words = [DecisionPage.code(story.known)]
        if let second = story.secondKnown { words.append("B: " + DecisionPage.code(second)) }
        if !story.policy.isEmpty { words.append("policy " + DecisionPage.code(story.policy)) }
        return words.joined(separator: "; ")
    }

    private static let preface = """
        # Decisions

        What renewald decides about each answer of a store: first in the words that all stores share, then
        store by store. `Tests/RenewalTests` plays every row of the first part; this page is generated from
        the same tables (`RENEWALD_WRITE_DOCS=1 swift test --no-parallel --filter Document`), and a test
        fails when they differ.

        How to read it:

        - A case begins with what is **known** about purchase A; `″` means the state after the row above.
          A second purchase is B: the same user's, or bob's (`bobs`). `claimed` means that bob, another
          user, submitted A too, on the day `claim=`, else on the first. `new` has never been checked. A
          number is the day to which A is paid, `until=` the end of access if that differs.
          `vain=29 asked=58`: checks have failed since day 29, the last one on day 58.
          `void=1 heard=10`: news of the refund of order 1 came on day 10. `addon=` is another product of
          the purchase.
        - **Day** is the time of the check on the test calendar: `30+10m` is ten minutes into day 30.
        - **Heard** is the store's answer in the words that all three stores share: `active 60` is in
          force and paid to day 60; `grace 33` is unpaid with access to day 33 (`own`: the store calls it
          grace and has not moved the expiry); `ended`, `cancelled`, `unpaid`, `price_declined` and
          `unavailable` are over, for that cause. `off` is auto-renew off. `after-A` continues A.
          `next=` is the identifier to ask with from now on, `account=` the user whom the app has named
          to the store, `bought=` the day of the purchase, `part=` why a part
          of it is over, `foreign` an answer from another environment.
        - **Told** are the events of that step, in order. Grants and revokes are about the entitlement
          `pro` unless another is named; a problem is the one that `renewald.purchases.problem` shows.
        - **Holds** are the user's active entitlements after the step, with their end.
        - **Next check** is the time from this check to the next, with a medium jitter.
        - The products: `pro_month`, the usual one, `pro_year`, `lifetime`, `pass30` (thirty days) and
          `free_week` grant `pro`; `gold_month` grants `gold`, `bundle` both; `coins` is a consumable.

        """
}
