import Ledger
import Renewal

/// What `renewald shadow --html` writes: one page that needs nothing else and runs nothing.
package struct ShadowPage: Sendable {
    private let report: ShadowReport
    private let lines: ShadowLongest
    private let version: String

    /// Of the drawing for a screen and for paper, and of the one for a phone.
    private static let widths = (wide: 960.0, narrow: 360.0)

    /// - Parameters:
    ///   - report: what is shown.
    ///   - lines: the differences that are listed.
    ///   - version: of the program that shows it.
    package init(_ report: ShadowReport, _ lines: ShadowLongest, version: String) {
        self.report = report
        self.lines = lines
        self.version = version
    }

    /// The whole document.
    package var html: String {
        let title = "renewald beside \(report.system)"
        return PageFrame(title: title).html([
            .element(
                "header",
                [
                    .element("h1", text: title),
                    .element(
                        "p", ["class": "quiet"],
                        text: "As of \(report.run.at.reading), by renewald \(version)"),
                ]),
            .element("main", [verdict] + figure + tables + [list]),
        ])
    }

    // MARK: The verdict

    private var verdict: Markup {
        let sentences = report.tallies.map(ShadowText.sentence)
        let healed =
            report.run.healed > 0 ? ["\(report.run.healed) of earlier runs have healed"] : []
        return .element(
            "section", ["class": report.differs ? "held" : "held active"],
            [
                .element("h2", text: ShadowText(report).summary),
                .element("ul", (sentences + healed).map { .element("li", text: $0) }),
            ])
    }

    private var tables: [Markup] {
        ShadowClass.allCases.compactMap { who in
            let tallies = report.causes(of: who)
            guard !tallies.isEmpty else { return nil }
            return .element(
                "table",
                [.element("caption", text: ShadowText.title(who)), Self.row(head: Self.causeHead)]
                    + tallies.map { tally in
                        Self.row([
                            .element("td", text: tally.cause.rawValue),
                            .element("td", ["class": "count"], text: "\(tally.count)"),
                            .element("td", text: ShadowText.sentence(tally)),
                        ])
                    })
        }
    }

    private static let causeHead = ["cause", "how many", "what it means"]

    private var list: Markup {
        guard !lines.lines.isEmpty else { return .text("") }
        let head = ["user", "entitlement", "who grants", "cause", "since", "first seen"]
        let rows = lines.lines.map { line in
            let ids = [line.userID.text, line.entitlement.text]
            let cells = [
                line.who == .theyGrant ? "they" : "renewald", line.cause.rawValue,
                line.since?.reading ?? "", line.firstSeenAt.reading,
            ]
            return Self.row(
                ids.map { .element("td", ["class": "id"], text: $0) }
                    + cells.map { .element("td", text: $0) })
        }
        let all = lines.count
        let caption =
            rows.count < all
            ? "The \(rows.count) of \(all) differences that have lasted longest" : "All differences"
        return .element(
            "table", [.element("caption", text: caption), Self.row(head: head)] + rows)
    }

    private static func row(head: [String]) -> Markup {
        row(head.map { .element("th", ["scope": "col"], text: $0) })
    }

    private static func row(_ cells: [Markup]) -> Markup { .element("tr", cells) }

    // MARK: The plot

    private var figure: [Markup] {
        guard report.history.count > 1 else { return [] }
        let drawings = [("wide", Self.widths.wide), ("narrow", Self.widths.narrow)].map {
            ShadowDrawing(report.history, width: $1, name: $0)
        }
        return [
            .element(
                "figure",
                drawings.map(\.markup) + [.element("figcaption", drawings[0].legend)])
        ]
    }
}

/// The differences that have lasted longest, and how many there are.
package struct ShadowLongest: Sendable {
    package private(set) var lines: [ShadowLine] = []
    package private(set) var count = 0

    private static let limit = 200

    package init() {}

    package mutating func add(_ line: ShadowLine) {
        count += 1
        lines.append(line)
        // Sorted now and then, so that a fleet of differences costs little.
        if lines.count >= 4 * Self.limit { cut() }
    }

    /// Leaves those that are listed, the longest first.
    package mutating func cut() {
        lines.sort {
            ($0.since ?? $0.firstSeenAt, $0.userID) < ($1.since ?? $1.firstSeenAt, $1.userID)
        }
        lines = Array(lines.prefix(Self.limit))
    }
}

/// How many differences each run has found, over time.
struct ShadowDrawing {
    private let runs: [ShadowRun]
    private let width: Double
    private let name: String

    private enum Size {
        static let height = 240.0
        static let left = 52.0
        static let right = 16.0
        static let top = 14.0
        static let axis = 34.0
        /// Room for a label of the axis and a gap.
        static let label = 70.0
        static let dot = 3.0
    }

    private typealias Curve = (
        name: String, title: String, count: @Sendable (ShadowRun) -> Int64
    )
    private static let curves: [Curve] = [
        ("they", "they grant, renewald does not", { $0.theyGrant }),
        ("we", "renewald grants, they do not", { $0.weGrant }),
        ("unsettled", "unsettled", { $0.unsettled }),
    ]

    init(_ runs: [ShadowRun], width: Double, name: String) {
        self.runs = runs
        self.width = width
        self.name = name
    }

    private var from: Timestamp { runs.map(\.at).min() ?? .never }
    private var to: Timestamp { runs.map(\.at).max() ?? .never }
    private var most: Int64 {
        max(runs.flatMap { run in Self.curves.map { $0.count(run) } }.max() ?? 0, 1)
    }

    var markup: Markup {
        .element(
            "svg",
            [
                "class": name, "viewBox": "0 0 \(Int(width)) \(Int(Size.height))",
                "width": "\(Int(width))", "height": "\(Int(Size.height))", "role": "img",
                "aria-label": "Differences over time: \(runs.count) runs, at most \(most)",
            ], scale + axis + Self.curves.filter(isSeen).map(curve))
    }

    /// What nothing is ever counted of is not drawn.
    private func isSeen(_ curve: Curve) -> Bool { runs.contains { curve.count($0) > 0 } }

    var legend: [Markup] {
        Self.curves.filter(isSeen).map { name, title, _ in
            .element(
                "span",
                [
                    .element(
                        "svg", ["width": "20", "height": "14", "aria-hidden": "true"],
                        [.element("path", ["class": "plot \(name)", "d": "M0 7H20"], [])]),
                    .text(title),
                ])
        }
    }

    // MARK: Places

    private func x(_ at: Timestamp) -> Double {
        let whole = Double((to - from).microseconds)
        let share = whole > 0 ? Double((at - from).microseconds) / whole : 0.5
        return Size.left + share * (width - Size.left - Size.right)
    }

    private func y(_ count: Int64) -> Double {
        let room = Size.height - Size.top - Size.axis
        return Size.top + room * (1 - Double(count) / Double(most))
    }

    /// Tenths of a pixel are enough.
    private func pixels(_ length: Double) -> String {
        let tenths = Int((length * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    // MARK: Marks

    private var scale: [Markup] {
        let steps = most == 1 ? [0, 1] : [0, most / 2, most]
        return steps.flatMap { count -> [Markup] in
            let height = pixels(y(count))
            return [
                .element(
                    "line",
                    [
                        "class": "tick", "x1": pixels(Size.left), "x2": pixels(width - Size.right),
                        "y1": height, "y2": height,
                    ], []),
                .element(
                    "text", ["class": "label", "x": pixels(Size.left / 2), "y": height],
                    text: "\(count)"),
            ]
        }
    }

    private var axis: [Markup] {
        let room = width - Size.left - Size.right
        return TimeAxis(from: from, to: to, most: Int(room / Size.label)).ticks.flatMap {
            tick -> [Markup] in
            let place = pixels(x(tick.at))
            let texts = [tick.label, tick.below].compactMap(\.self)
            return texts.enumerated().map { index, text in
                .element(
                    "text",
                    [
                        "class": "label", "x": place,
                        "y": pixels(Size.height - Size.axis + 16 + 14 * Double(index)),
                    ], text: text)
            }
        }
    }

    private func curve(
        _ name: String, _ title: String, _ count: (ShadowRun) -> Int64
    ) -> Markup {
        let places = runs.map { "\(pixels(x($0.at))) \(pixels(y(count($0))))" }
        let dots = runs.map { run in
            Markup.element(
                "circle",
                [
                    "class": "plot \(name)", "cx": pixels(x(run.at)), "cy": pixels(y(count(run))),
                    "r": pixels(Size.dot),
                ], [.element("title", text: "\(run.at.reading): \(count(run)) \(title)")])
        }
        return .element(
            "g",
            [
                .element(
                    "path", ["class": "plot \(name)", "d": "M" + places.joined(separator: "L")], [])
            ] + dots)
    }
}
