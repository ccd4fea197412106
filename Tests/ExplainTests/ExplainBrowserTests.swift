import Explain
import Foundation
import Ledger
import Renewal
import Testing

/// What a real browser makes of the page of `renewald explain --html`.
@Suite(.serialized)
struct ExplainBrowserTests {
    @Test(arguments: [390, 1100])
    func drawsEverythingWithinTheWindow(_ width: Int) async throws {
        guard let browser = Browser() else { return }
        let histories = [(1, 3), (1, 300), (8, 8), (8, 300)].map {
            Sample.crowd(purchases: $0.0, checks: $0.1)
        }
        let drawings = try await browser.measure(page(of: histories), width: width)
        #expect(drawings.count == histories.count)
        for (history, drawn) in zip(histories, drawings) {
            #expect(drawn.checks.count == history.purchases.map(\.evidence.count).reduce(0, +))
            #expect(drawn.events.count == history.purchases.map(\.events.count).reduce(0, +))
            #expect(drawn.bars.count >= history.purchases.count)
            #expect(drawn.untold == 0)
            #expect(drawn.pageWidth <= drawn.window)
            #expect(drawn.svg[0] >= 0 && drawn.svg[2] <= drawn.window)
            let boxes = drawn.checks + drawn.events + drawn.bars + drawn.texts.map(\.box)
            #expect(boxes.filter { !isWithin(drawn.svg, $0) } == [])
            #expect(boxes.filter { $0[2] <= $0[0] || $0[3] <= $0[1] } == [])
        }
    }

    @Test(arguments: [390, 1100])
    func writesNoTextOverAnother(_ width: Int) async throws {
        guard let browser = Browser() else { return }
        let now = Sample.day(2000)
        let histories = [1, 8].flatMap { purchases in
            [
                Duration.seconds(5), .minutes(70), .hours(5), .days(1), .days(3), .days(10),
                .days(50), .days(200), .days(1900),
            ].map { history(purchases, since: now - $0, now) }
        }
        let drawings = try await browser.measure(page(of: histories), width: width)
        #expect(drawings.count == histories.count)
        for drawn in drawings {
            #expect(drawn.texts.count > 2)
            let overlaps = drawn.texts.enumerated().flatMap { index, text in
                drawn.texts[..<index].filter { overlap(text.box, $0.box) }.map {
                    "\(text.text) over \($0.text)"
                }
            }
            #expect(overlaps == [])
        }
    }

    @Test func isDarkInTheDark() async throws {
        guard let browser = Browser() else { return }
        let html = page(of: [Sample.lapsed])
        let light = try await browser.measure(html, width: 1100)
        let dark = try await browser.measure(html, width: 1100, isDark: true)
        #expect(light.first?.paper == "rgb(255, 255, 255)")
        #expect(dark.first?.paper == "rgb(20, 23, 27)")
        #expect(dark.first?.ink == "rgb(231, 234, 238)")
    }

    @Test func givesNoCauseForComplaint() async throws {
        guard let browser = Browser() else { return }
        let html = page(of: [Sample.crowd(purchases: 8, checks: 300)])
        #expect(try await browser.complaints(about: html) == [])
        // The policy is in force: another style is refused, and that would be seen.
        let other = html.replacing("</style>", with: "p{}</style>")
        #expect(try await browser.complaints(about: other).count > 0)
    }

    @Test(arguments: [390, 1100])
    func isNotBlank(_ width: Int) async throws {
        guard let browser = Browser() else { return }
        let blank = try await browser.picture(of: "<!doctype html><p></p>", width: width)
        let picture = try await browser.picture(of: page(of: [Sample.lapsed]), width: width)
        #expect(picture.count > 5 * blank.count)
    }

    // MARK: Helpers

    private func page(of histories: [UserHistory]) -> String {
        let now = histories.map(\.now).max() ?? Sample.start
        let explanation = Explanation(finding: .order, now: now, users: histories)
        return ExplanationPage(explanation, version: "1.2.3").html
    }

    private func history(
        _ purchases: Int, since start: Timestamp, _ now: Timestamp
    ) -> UserHistory {
        Sample.history(
            now: now,
            (0..<purchases).map { index in
                Sample.purchase(
                    Int64(index), product: "com.example.reader.pro.with.a.long.name.monthly",
                    state: .active, access: .granted, until: now + .days(index),
                    submitted: start, now: now,
                    checks: [Sample.Check(at: start, from: ("new", "none"))])
            })
    }

    /// With half a pixel for rounding.
    private func isWithin(_ outer: [Double], _ inner: [Double]) -> Bool {
        inner[0] >= outer[0] - 0.5 && inner[1] >= outer[1] - 0.5 && inner[2] <= outer[2] + 0.5
            && inner[3] <= outer[3] + 0.5
    }

    private func overlap(_ one: [Double], _ other: [Double]) -> Bool {
        one[0] < other[2] && other[0] < one[2] && one[1] < other[3] - 0.5
            && other[1] < one[3] - 0.5
    }
}
