import Ledger
import Renewal

/// What `renewald explain --html` writes: one page that needs nothing else and runs nothing.
package struct ExplanationPage: Sendable {
    private let explanation: Explanation
    private let version: String

    /// Of the drawing for a clients and for paper, and of the one for a phone.
    private static let widths = (wide: 960.0, narrow: 360.0)

    /// - Parameters:
    ///   - explanation: what is shown.
    ///   - version: of the program that shows it.
    package init(_ explanation: Explanation, version: String) {
        self.explanation = explanation
        self.version = version
    }

    /// The whole document.
    package var html: String {
        let names = explanation.users.map(\.id.text).joined(separator: ", ")
        let title = names.isEmpty ? "no purchases" : names
        return PageFrame(title: "\(title): explained by renewald").html([
            header(title), .element("main", body),
        ])
    }

    private func header(_ title: String) -> Markup {
        .element(
            "header",
            [
                .element("h1", text: title),
                .element(
                    "p", ["class": "quiet"],
                    text: "As of \(explanation.now.reading), by renewald \(version)"),
            ] + explanation.notes.map { .element("p", text: $0) })
    }

    private var body: [Markup] {
        explanation.users.enumerated().map { index, user in
            let heading =
                explanation.users.count > 1 ? [Markup.element("h2", text: user.id.text)] : []
            let drawing = [figure(user, name: "user\(index)")]
            let chains =
                user.purchases.map(section) + user.transferred.map { section($0, of: user.id) }
                + user.claimed.map(section) + user.unread.map(section)
            return .element(
                "article",
                heading + user.holdings.map(card) + nothingHeld(user) + PageStory(of: user).markup
                    + drawing + chains)
        }
    }

    // MARK: What is held now

    private func card(_ held: Explanation.Held) -> Markup {
        let words = HeldWords(held)
        return .element(
            "section", ["class": held.entitlement.active ? "held active" : "held"],
            [
                .element("h2", text: words.headline),
                .element("ul", words.reasons.map { .element("li", text: $0) }),
            ])
    }

    private func nothingHeld(_ user: Explanation.User) -> [Markup] {
        guard user.holdings.isEmpty else { return [] }
        return [
            .element(
                "section", ["class": "held"],
                [.element("h2", text: "has never held anything")])
        ]
    }

    private func section(_ claimed: Explanation.Claimed) -> Markup {
        .element(
            "section",
            [
                .element("h2", text: "Purchase \(claimed.id): \(claimed.title)"),
                .element("p", text: "\(claimed.situation); \(claimed.chances)."),
            ])
    }

    private func section(_ unread: UnreadablePurchase) -> Markup {
        .element(
            "section",
            [
                .element("h2", text: "Purchase \(unread.id): \(unread.title)"),
                .element("p", text: "\(unread.problem)."),
            ])
    }

    // MARK: The drawing

    private func figure(_ user: Explanation.User, name: String) -> Markup {
        let timeline = Timeline(of: user, at: explanation.now)
        let description = describe(user, timeline)
        return .element(
            "figure",
            [
                TimelineDrawing(timeline, width: Self.widths.wide, name: "wide", id: name)
                    .markup(description),
                TimelineDrawing(timeline, width: Self.widths.narrow, name: "narrow", id: name)
                    .markup(description),
                TimelineLegend(timeline).markup,
            ])
    }

    private func describe(_ user: Explanation.User, _ timeline: Timeline) -> String {
        let steps = timeline.rows.flatMap(\.steps)
        let checks = steps.count { $0.check != nil }
        let events = steps.map(\.events.count).reduce(0, +)
        let held = user.holdings.map { "\(user.id) \(HeldWords($0).headline)." }
        let scope =
            "\(count(timeline.rows.count, "purchase")) from \(timeline.from.reading) to "
            + "\(timeline.to.reading), \(count(checks, "check")), \(count(events, "event"))."
        return ([scope] + held).joined(separator: " ")
    }

    private func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    // MARK: One purchase

    private func section(_ purchase: Explanation.Purchase) -> Markup {
        let words = PurchaseWords(purchase)
        return .element(
            "section", ["class": "purchase"],
            [
                .element("h2", text: "Purchase \(purchase.id): \(words.title)"),
                PageStep.list(words.rows),
                newest(purchase),
                chain(purchase.steps, by: purchase.userID),
                .element(
                    "p", ["class": "next", "id": "newest-\(purchase.id)"],
                    [
                        .element("strong", text: "Next: "), .text(purchase.next.sentence),
                    ]),
            ])
    }

    /// The way to the end of a long chain, which mostly is what is looked for.
    private func newest(_ purchase: Explanation.Purchase) -> Markup {
        guard purchase.steps.count > Self.longChain else { return .text("") }
        return .element(
            "p", ["class": "jump"],
            [
                .element(
                    "a", ["href": "#newest-\(purchase.id)"],
                    text: "To the newest of \(purchase.steps.count) steps")
            ])
    }

    /// More steps than a window shows.
    private static let longChain = 5

    private func section(_ parted: Explanation.Transferred, of user: UserID) -> Markup {
        .element(
            "section", ["class": "purchase"],
            [
                .element("h2", text: "Purchase \(parted.id): \(parted.title)"),
                PageStep.list([NamedRow(name: "now", text: Explanation.Transferred.situation)]),
                chain(parted.steps, by: user),
            ])
    }

    private func chain(_ steps: [Explanation.Step], by user: UserID) -> Markup {
        .element("ol", ["class": "chain"], steps.words(of: user).map(item))
    }

    private func item(_ step: Explanation.Step, _ words: StepWords) -> Markup {
        let shown = PageStep(step, words)
        return .element(
            "li", ["class": kind(of: step)],
            [
                .element(
                    "h3",
                    [
                        .element("time", ["datetime": step.at.text], text: step.at.reading),
                        .text(shown.title),
                    ])
            ] + shown.markup)
    }

    /// What matters most of it.
    private func kind(of step: Explanation.Step) -> String {
        for kind in ["revoke", "grant", "notice"]
        where step.events.contains(where: { $0.kind == kind }) {
            return kind
        }
        return step.check?.evidence.kind.rawValue ?? ""
    }
}

/// What the colours and shapes of a timeline mean: those that occur.
struct TimelineLegend {
    private let timeline: Timeline

    init(_ timeline: Timeline) { self.timeline = timeline }

    var markup: Markup {
        .element("figcaption", bars + checks + events)
    }

    private var bars: [Markup] {
        let present = Set(timeline.rows.flatMap(\.stretches).map(\.access))
        return Timeline.Stretch.Access.allCases.filter(present.contains).map { access in
            let isLine = access == .none
            return entry(
                .element(
                    "rect",
                    [
                        "class": "bar \(access.rawValue)", "x": "1", "y": isLine ? "6" : "2",
                        "width": "18", "height": isLine ? "2" : "10",
                    ], []), access.name)
        }
    }

    private var checks: [Markup] {
        let names: KeyValuePairs = [
            "verdict": "check", "doubt": "bad news, to be confirmed",
            "failure": "check without verdict",
        ]
        let present = Set(
            timeline.rows.flatMap(\.steps).compactMap { $0.check?.evidence.kind.rawValue })
        return names.filter { present.contains($0.key) }.map { kind, name in
            entry(
                .element(
                    "rect",
                    [
                        "class": "check \(kind)", "x": "8", "y": "2", "width": "3",
                        "height": "10",
                    ], []), name)
        }
    }

    private var events: [Markup] {
        let present = Set(timeline.rows.flatMap(\.steps).flatMap(\.events).map(\.kind))
        return ["grant", "revoke", "notice"].filter(present.contains).map { kind in
            entry(
                .element(
                    "path",
                    [
                        "class": "event \(kind)", "d": EventShape.path(kind),
                        "transform": "translate(10 7)",
                    ], []), kind)
        }
    }

    private func entry(_ mark: Markup, _ name: String) -> Markup {
        .element(
            "span",
            [
                .element(
                    "svg", ["width": "20", "height": "14", "aria-hidden": "true"], [mark]),
                .text(name),
            ])
    }
}
