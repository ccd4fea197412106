import Crypto
import Foundation
import Renewal
import Testing

@testable import Explain
@testable import Ledger

/// The report of a comparison: its sentences, its list and its page.
struct ShadowPageTests {
    private static func run(_ day: Int64, they: Int64 = 0, we: Int64 = 0) -> ShadowRun {
        var run = ShadowRun(at: Sample.start + .days(Int(day)))
        (run.theyGrant, run.weGrant, run.agree) = (they, we, 10)
        run.compared = 10 + they + we
        return run
    }

    private static func report(_ tallies: [ShadowTally], runs: [ShadowRun]) throws -> ShadowReport {
        ShadowReport(
            try #require(runs.last), tallies, doubled: 0, system: "<old>", history: runs)
    }

    private static func line(_ user: UserID, day: Int) -> ShadowLine {
        ShadowLine(
            ShadowFinding(
                id: 1, shard: 0, userID: user, entitlement: "pro", who: .theyGrant,
                firstSeenAt: Sample.start + .days(day), lastSeenAt: Sample.start + .days(day),
                lastHeldBy: nil, lastProduct: nil, toldAt: nil, moved: []),
            .refundUnseen, since: nil, isSettled: true)
    }

    /// Each has a sentence of its own, for one and for many.
    @Test func sentencesAreWhatAManagerUnderstands() {
        func said(_ cause: ShadowCause, _ people: Int64, _ age: Duration) -> String {
            ShadowText.sentence(
                ShadowTally(
                    who: .theyGrant, cause: cause, count: people, people: people, age: age))
        }
        #expect(
            said(.refundUnseen, 311, .days(9))
                == "311 people have kept access for 9 days on average after a refund")
        #expect(
            said(.refundUnseen, 1, .hours(30))
                == "1 person has kept access for 30 hours after a refund")
        let now = said(.expiryUnseen, 2, .zero)
        #expect(now == "2 people have kept access after the end of what was paid")
        #expect(said(.expiryUnseen, 2, .seconds(31)).contains("for 1 minute on average"))
        let all = ShadowClass.allCases.flatMap { who in
            ShadowCause.allCases.map { cause in
                ShadowText.sentence(
                    ShadowTally(who: who, cause: cause, count: 1, people: 1, age: .days(1)))
            }
        }
        #expect(all.allSatisfy { $0.hasPrefix("1 person ") })
    }

    @Test func namesWhatHasHealedAndWhatIsTooNew() throws {
        var last = Self.run(2)
        (last.unsettled, last.healed, last.compared) = (3, 4, 13)
        let text = ShadowText(try Self.report([], runs: [last])).lines
        #expect(
            text == [
                "13 compared: 10 agree, 0 differ, 3 unsettled",
                "3 are too new to count: see --settle", "4 of earlier runs have healed",
            ])
    }

    @Test func quotesWhatCSVDemands() {
        #expect(
            Self.line("a,\"b\"\n", day: 0).csv.hasPrefix(
                "\"a,\"\"b\"\"\n\",pro,they_grant,refund_unseen"))
        #expect(Self.line("plain", day: 0).csv.hasPrefix("plain,pro,"))
        #expect(
            ShadowLine.header.split(separator: ",").count
                == Self.line("plain", day: 0).csv.split(
                    separator: ",", omittingEmptySubsequences: false
                ).count)
    }

    @Test func thePageNeedsNothingElseAndEscapesAll() throws {
        let tally = ShadowTally(
            who: .theyGrant, cause: .refundUnseen, count: 3, people: 3, age: .days(2))
        var longest = ShadowLongest()
        longest.add(Self.line("<script>alert(1)</script>", day: 1))
        longest.cut()
        let report = try Self.report(
            [tally], runs: [Self.run(0, they: 5, we: 2), Self.run(7, they: 3)])
        let page = ShadowPage(report, longest, version: "1").html
        #expect(!page.contains("<script") && page.contains("&lt;script&gt;"))
        #expect(page.contains("renewald beside &lt;old&gt;"))
        #expect(page.contains("13 compared: 10 agree, 3 differ"))
        #expect(page.contains("3 people have kept access for 2 days on average after a refund"))
        // One curve for each kind that there is, a dot for each run, in two sizes.
        #expect(page.components(separatedBy: "<circle").count == 1 + 2 * 2 * 2)
        #expect(page.contains("5 they grant, renewald does not"))
        let sheet = try #require(
            page.firstRange(of: "<style>").flatMap { start in
                page.firstRange(of: "</style>").map {
                    String(page[start.upperBound..<$0.lowerBound])
                }
            })
        let digest = Data(SHA256.hash(data: Data(sheet.utf8))).base64EncodedString()
        #expect(page.contains("style-src &#39;sha256-\(digest)&#39;"))
        #expect(!page.contains("http:") && !page.contains("nan") && !page.contains("inf"))
    }

    /// One run is no plot, and all at one instant is none that fails.
    @Test func drawsWhatThereIs() throws {
        let one = try Self.report([], runs: [Self.run(0)])
        #expect(!ShadowPage(one, ShadowLongest(), version: "1").html.contains("<svg"))
        let twice = try Self.report([], runs: [Self.run(0), Self.run(0)])
        #expect(ShadowPage(twice, ShadowLongest(), version: "1").html.contains("<svg"))
    }

    @Test func listsThoseThatHaveLastedLongest() {
        var longest = ShadowLongest()
        for day in (1...3000).reversed() { longest.add(Self.line("u \(day)", day: day)) }
        longest.cut()
        #expect(longest.count == 3000 && longest.lines.count == 200)
        #expect(longest.lines.map(\.userID) == (1...200).map { "u \($0)" })
    }
}
