import Ledger
import Renewal

/// A timeline as SVG. Colours come from the page's style; every mark has a tooltip.
struct TimelineDrawing {
    private let timeline: Timeline
    private let width: Double
    private let name: String
    private let id: String

    private enum Size {
        static let margin = 30.0
        /// Above the rows: the word at the line of now.
        static let top = 20.0
        static let row = 78.0
        static let title = 16.0
        static let events = 31.0
        static let bar = (top: 40.0, height: 16.0)
        /// Checks without a verdict stand lower, so that both are seen where they are close.
        static let checks = (top: 58.0, lower: 64.0, height: 8.0, width: 3.0)
        static let axis = 42.0
        /// Room for a label of the axis and a gap.
        static let label = 58.0
        /// At least as wide as any character of a title is on average.
        static let character = 7.0
        /// Between the marks of events of one commit.
        static let beside = 11.0
    }

    /// Drawn for a width in CSS pixels; it can be shown in another. By its name the style shows it
    /// or not, and name and id together are its own within the page.
    init(_ timeline: Timeline, width: Double, name: String, id: String) {
        self.timeline = timeline
        self.width = width
        self.name = name
        self.id = "\(id)-\(name)"
    }

    private var height: Double {
        Size.top + Size.row * Double(timeline.rows.count) + Size.axis
    }

    /// The description is for those who cannot see it.
    func markup(_ description: String) -> Markup {
        let rows = timeline.rows.enumerated().map { index, row in
            Markup.element(
                "g", ["class": "lane"],
                draw(row, at: Size.top + Size.row * Double(index)))
        }
        return .element(
            "svg",
            [
                "class": name, "viewBox": "0 0 \(pixels(width)) \(pixels(height))",
                "width": pixels(width), "height": pixels(height), "role": "img",
                "aria-labelledby": "\(id)-title \(id)-desc",
            ],
            [
                .element("title", ["id": "\(id)-title"], text: "Access over time"),
                .element("desc", ["id": "\(id)-desc"], text: description), axis(), nowLine(),
            ] + rows)
    }

    // MARK: Crowds

    /// Many checks are thin, so that they stay apart.
    private var checkWidth: Double {
        let most = timeline.rows.map { row in row.steps.count { $0.check != nil } }.max() ?? 0
        return min(max(room / Double(max(most, 1)) / 2, 1), Size.checks.width)
    }

    /// Many events are small.
    private var eventScale: Double {
        let most = timeline.rows.map { $0.steps.map(\.events.count).reduce(0, +) }.max() ?? 0
        return min(max(room / Double(max(most, 1)) / Size.beside, 0.5), 1)
    }

    private var room: Double { width - 2 * Size.margin }

    // MARK: Along the time

    private func position(_ instant: Timestamp) -> Double {
        let whole = Double(max((timeline.to - timeline.from).microseconds, 1))
        let part = Double((instant - timeline.from).microseconds) / whole
        return Size.margin + min(max(part, 0), 1) * room
    }

    private func axis() -> Markup {
        let top = height - Size.axis + 4
        let axis = TimeAxis(
            from: timeline.from, to: timeline.to, most: Int((width - Size.margin) / Size.label))
        var parts = [
            line("rule", (Size.margin, top), (width - Size.margin, top))
        ]
        for tick in axis.ticks {
            let x = position(tick.at)
            parts.append(line("tick", (x, Size.top), (x, top + 4)))
            parts.append(label("label", tick.label, (x, top + 17)))
            if let below = tick.below { parts.append(label("label", below, (x, top + 32))) }
        }
        return .element("g", ["class": "axis"], parts)
    }

    private func nowLine() -> Markup {
        let x = position(timeline.now)
        return .element(
            "g", ["class": "now"],
            [
                line("", (x, Size.top - 4), (x, height - Size.axis + 4)),
                label("label", "now", (x, Size.top - 8)),
            ])
    }

    // MARK: A row

    private func draw(_ row: Timeline.Row, at top: Double) -> [Markup] {
        let room = Int(room / Size.character)
        let title =
            row.title.count > room ? row.title.prefix(max(room - 1, 1)) + "…" : row.title[...]
        var parts = [
            Markup.element(
                "text",
                [
                    "class": "title", "x": pixels(Size.margin), "y": pixels(top + Size.title),
                ], text: String(title))
        ]
        parts += row.stretches.map { bar($0, at: top) }
        for step in row.steps {
            if let check = step.check { parts.append(mark(check, step, at: top)) }
            for (index, event) in step.events.enumerated() {
                let x = position(step.at) + Size.beside * eventScale * Double(index)
                parts.append(mark(event, step, x: min(x, width - 6), y: top + Size.events))
            }
        }
        return parts
    }

    private func bar(_ stretch: Timeline.Stretch, at top: Double) -> Markup {
        let (left, right) = (position(stretch.from), position(stretch.to))
        let isLine = stretch.access == .none
        let height = isLine ? 2 : Size.bar.height
        return .element(
            "rect",
            [
                "class": "bar \(stretch.access.rawValue)", "x": pixels(left),
                "y": pixels(top + Size.bar.top + (Size.bar.height - height) / 2),
                "width": pixels(max(right - left, 1)), "height": pixels(height),
            ],
            [
                .element(
                    "title",
                    text: "\(stretch.access.name): \(stretch.from.reading) to "
                        + stretch.to.reading)
            ])
    }

    private func mark(
        _ check: StoredEvidence, _ step: Explanation.Step, at top: Double
    ) -> Markup {
        let isVerdict = check.evidence.kind == .verdict
        return .element(
            "rect",
            [
                "class": "check \(check.evidence.kind.rawValue)",
                "x": pixels(position(step.at) - checkWidth / 2),
                "y": pixels(top + (isVerdict ? Size.checks.top : Size.checks.lower)),
                "width": pixels(checkWidth),
                "height": pixels(Size.checks.height),
            ],
            [
                .element(
                    "title",
                    text: "\(step.at.reading), \(StepWords(step).headline.arrowed): "
                        + check.evidence.heard)
            ])
    }

    private func mark(
        _ event: StoredEvent, _ step: Explanation.Step, x: Double, y: Double
    ) -> Markup {
        .element(
            "path",
            [
                "class": "event \(event.kind)", "d": EventShape.path(event.kind),
                "transform": "translate(\(pixels(x)) \(pixels(y))) scale(\(pixels(eventScale)))",
            ],
            [.element("title", text: "\(step.at.reading), \(StepWords(step).text(of: event))")])
    }

    // MARK: Pieces

    private func line(
        _ className: String, _ start: (Double, Double), _ end: (Double, Double)
    ) -> Markup {
        .element(
            "line",
            [
                "class": className, "x1": pixels(start.0), "y1": pixels(start.1),
                "x2": pixels(end.0), "y2": pixels(end.1),
            ], [])
    }

    private func label(_ className: String, _ text: String, _ at: (Double, Double)) -> Markup {
        .element(
            "text", ["class": className, "x": pixels(at.0), "y": pixels(at.1)], text: text)
    }

    /// To a tenth.
    private func pixels(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}

/// The mark of each kind of event, around its middle: told apart without colour.
enum EventShape {
    static func path(_ kind: String) -> String {
        switch kind {
        case "grant": "M0 -6L6 5H-6Z"
        case "revoke": "M0 6L6 -5H-6Z"
        default: "M0 -5L5 0L0 5L-5 0Z"
        }
    }
}
