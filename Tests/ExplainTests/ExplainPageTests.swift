import Crypto
import Foundation
import Ledger
import Renewal
import Testing

@testable import Explain

/// The page that `renewald explain --html` writes, as text; `ExplainBrowserTests` look at it.
struct ExplainPageTests {
    @Test func needsNothingElseAndRunsNothing() {
        let page = page(of: Sample.crowd(purchases: 8, checks: 300))
        for word in ["<script", "<link", "<img", "<iframe", "http:", "https:", "@import", " on"] {
            let tags = page.split(separator: "<").compactMap {
                "<" + ($0.split(separator: ">").first ?? "")
            }
            #expect(!tags.contains { $0.contains(word) }, "\(word)")
        }
        #expect(!page.contains("url("))
        #expect(page.contains("default-src &#39;none&#39;"))
    }

    /// A browser drops a style whose digest is another one.
    @Test func allowsItsOwnStyleSheet() throws {
        let page = page(of: Sample.lapsed)
        let sheet = try #require(page.between("<style>", "</style>"))
        let digest = Data(SHA256.hash(data: Data(sheet.utf8))).base64EncodedString()
        #expect(page.contains("style-src &#39;sha256-\(digest)&#39;"))
    }

    @Test func escapesWhatComesFromOutside() {
        let evil = "<script>alert(1)</script>\"'&\u{202e}"
        let page = page(
            of: Sample.history(
                user: UserID(evil),
                holds: [
                    Sample.entitlement(
                        EntitlementID(evil), active: true, until: nil, reason: evil)
                ],
                [
                    Sample.purchase(
                        user: UserID(evil), product: ProductID(evil), state: .active,
                        access: .granted,
                        orderID: OrderID(evil),
                        checks: [
                            Sample.Check(
                                at: Sample.start, heard: evil, rule: evil, told: [("grant", evil)])
                        ])
                ]))
        #expect(!page.contains("<script"))
        #expect(!page.contains("\u{202e}"))
        #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\u{fffd}"))
    }

    @Test func neverShowsAToken() {
        #expect(!page(of: Sample.crowd(purchases: 8, checks: 80)).contains("planted"))
        let amazon = AppKey(store: .amazon, id: "com.example.reader")
        let history = Sample.history([
            Sample.purchase(
                app: amazon, state: .active, access: .granted, orderID: OrderID(Sample.token.text),
                checks: [Sample.Check(at: Sample.start)])
        ])
        #expect(!page(of: history).contains("planted"))
    }

    @Test(arguments: [(1, 3), (1, 300), (8, 3), (8, 300)])
    func drawsAMarkForEachCheckAndEvent(_ purchases: Int, _ checks: Int) {
        let history = Sample.crowd(purchases: purchases, checks: checks)
        let page = page(of: history)
        let events = history.purchases.map(\.events.count).reduce(0, +)
        let drawing = page.between("<svg class=\"wide\"", "</svg>") ?? ""
        #expect(drawing.components(separatedBy: "class=\"check ").count - 1 == checks)
        #expect(drawing.components(separatedBy: "class=\"event ").count - 1 == events)
        #expect(drawing.components(separatedBy: "class=\"lane\"").count - 1 == purchases)
    }

    @Test func aStepIsCalledByWhatItCameTo() throws {
        let page = page(of: Sample.lapsed)
        let titles = page.components(separatedBy: "</time>").dropFirst()
            .compactMap { $0.components(separatedBy: "</h3>").first }
        #expect(titles.first == "grant pro purchased")
        #expect(titles.contains { $0.contains("revoke pro ") })
        #expect(page.contains("<dd class=\"state\">new → active, access none → granted</dd>"))
        #expect(!page.contains("-&gt;") && !page.contains(" -> "))
        // What the machines said is folded away.
        #expect(page.contains("<summary>1 call to the store</summary><dl><dt>asked</dt>"))
    }

    /// The card is green, and the question is about April.
    @Test func aLossThatIsOverIsListed() throws {
        let history = Sample.history(
            holds: [
                Sample.entitlement(
                    "pro", active: true, until: Sample.day(90), reason: "recovered")
            ],
            [
                Sample.purchase(
                    state: .active, access: .granted, until: Sample.day(90),
                    checks: [
                        Sample.Check(at: Sample.start, told: [("grant", "purchased")]),
                        Sample.Check(at: Sample.day(40), told: [("revoke", "payment_failed")]),
                        Sample.Check(at: Sample.day(41), told: [("grant", "recovered")]),
                    ])
            ])
        let explanation = Explanation(finding: .user, now: history.now, users: [history])
        let losses = PageStory(of: explanation.users[0]).losses
        #expect(losses.map(\.lost.reason) == ["payment_failed"])
        #expect(losses.map(\.regained.reason) == ["recovered"])
        let page = page(of: history)
        #expect(page.contains("Lost before, and came back"))
        #expect(page.contains("lost \(losses[0].lost.effectiveAt.reading) (payment_failed: "))
        #expect(!self.page(of: Sample.lapsed).contains("Lost before"))
    }

    @Test func drawsWhenThereWasAccess() throws {
        let explanation = Explanation(
            finding: .user, now: Sample.lapsed.now, users: [Sample.lapsed])
        let lane = try #require(Timeline(of: explanation.users[0], at: explanation.now).rows.first)
        #expect(
            lane.stretches == [
                .init(from: Sample.start, to: Sample.day(0, .seconds(2)), access: .none),
                .init(
                    from: Sample.day(0, .seconds(2)), to: Sample.day(61, .seconds(5)),
                    access: .granted),
                .init(
                    from: Sample.day(61, .seconds(5)), to: Sample.day(61, .minutes(14)),
                    access: .none),
            ])
    }

    @Test func drawsWhatIsNotKnownAnyMoreAsThat() throws {
        let history = Sample.history([
            Sample.purchase(
                state: .active, access: .granted, until: Sample.day(90),
                checks: [Sample.Check(at: Sample.day(40), until: Sample.day(90))])
        ])
        let explanation = Explanation(finding: .user, now: history.now, users: [history])
        let lane = try #require(Timeline(of: explanation.users[0], at: explanation.now).rows.first)
        #expect(lane.stretches.map(\.access) == [.unknown, .granted, .ahead])
    }

    private func page(of history: UserHistory) -> String {
        let explanation = Explanation(finding: .user, now: history.now, users: [history])
        return ExplanationPage(explanation, version: "1.2.3").html
    }
}

/// Ticks on round times.
struct TimeAxisTests {
    /// Labels, with the larger unit where it is written.
    @Test(arguments: [
        (Duration.hours(1), "10:45/21 Sep 11:00 11:15 11:30"),
        (.days(1), "12:00/21 Sep 18:00 00:00/22 Sep 06:00"),
        (.days(30), "28 Sep/2026 5 Oct 12 Oct 19 Oct"),
        (.days(150), "Oct/2026 Nov Dec Jan/2027 Feb"), (.days(1200), "2027 2028 2029 2030"),
    ])
    func standsOnRoundTimes(_ span: Duration, _ expected: String) {
        let ticks = TimeAxis(from: Sample.start, to: Sample.start + span, most: 6).ticks
        let shown = ticks.map { [$0.label, $0.below].compactMap { $0 }.joined(separator: "/") }
        #expect(shown.joined(separator: " ") == expected)
    }

    @Test(arguments: [
        Duration.minutes(9), .hours(1), .hours(7), .days(1), .days(3), .days(30), .days(61),
        .days(300), .days(800), .days(4000), .days(40_000),
    ])
    func hasSomeTicksWithinTheTime(_ span: Duration) {
        for most in [5, 15] {
            let (from, to) = (Sample.start, Sample.start + span)
            let ticks = TimeAxis(from: from, to: to, most: most).ticks
            #expect(!ticks.isEmpty && ticks.count <= most, "\(span) \(most) \(ticks.count)")
            #expect(ticks.allSatisfy { from <= $0.at && $0.at <= to })
            #expect(ticks.map(\.at) == Set(ticks.map(\.at)).sorted())
        }
    }
}

extension String {
    fileprivate func between(_ start: String, _ end: String) -> String? {
        guard let open = range(of: start),
            let close = range(of: end, range: open.upperBound..<endIndex)
        else { return nil }
        return String(self[open.upperBound..<close.lowerBound])
    }
}
