import Ledger
import Renewal

/// What the page says of the past of a user: each time that an entitlement was lost and came back.
struct PageStory {
    /// A loss that is over.
    struct Loss: Hashable {
        let entitlement: EntitlementID
        let lost: StoredEvent
        let regained: StoredEvent

        /// Such as `pro: lost 2026-04-09 12:00:00 UTC (payment_failed: …), back 2026-04-10 …`.
        var sentence: String {
            "\(entitlement): lost \(lost.effectiveAt.reading) (\(Self.reason(lost))), "
                + "back \(regained.effectiveAt.reading) (\(Self.reason(regained)))"
        }

        private static func reason(_ event: StoredEvent) -> String {
            let meaning = ReasonTexts.meaning(of: event.reason, kind: event.kind)
            return [event.reason, meaning].compactMap { $0 }.joined(separator: ": ")
        }
    }

    /// Oldest first. The loss that still lasts is told where it stands what is held now.
    let losses: [Loss]

    init(of user: Explanation.User) {
        let steps = user.purchases.flatMap(\.steps) + user.transferred.flatMap(\.steps)
        let events = steps.flatMap(\.events).filter { $0.userID == user.id }.sorted {
            $0.id < $1.id
        }
        var lost: [EntitlementID: StoredEvent] = [:]
        var losses: [Loss] = []
        for event in events {
            guard let entitlement = event.entitlement else { continue }
            if event.kind == "revoke" {
                lost[entitlement] = event
            } else if event.kind == "grant", let loss = lost.removeValue(forKey: entitlement) {
                losses.append(Loss(entitlement: entitlement, lost: loss, regained: event))
            }
        }
        self.losses = losses
    }

    var markup: [Markup] {
        guard !losses.isEmpty else { return [] }
        return [
            .element(
                "section", ["class": "held past"],
                [
                    .element("h2", text: "Lost before, and came back"),
                    .element("ul", losses.map { .element("li", text: $0.sentence) }),
                ])
        ]
    }
}

/// A step of a chain as the page shows it: what it came to as the title, what the machines said
/// folded away.
struct PageStep {
    private let step: Explanation.Step
    private let words: StepWords

    init(_ step: Explanation.Step, _ words: StepWords) {
        self.step = step
        self.words = words
    }

    /// What was told, where anything was; else how the state has changed.
    var title: String {
        let told = step.events.map { event in
            [event.kind, event.entitlement?.text, event.reason].compactMap { $0 }.joined(
                separator: " ")
        }
        return told.isEmpty ? words.headline.arrowed : told.joined(separator: "; ")
    }

    var markup: [Markup] {
        let change = step.events.isEmpty ? [] : [NamedRow(name: "state", text: words.headline)]
        let calls = words.rows.filter { $0.name == "asked" }
        let rows = change + words.rows.filter { $0.name != "asked" }
        guard !calls.isEmpty else { return [Self.list(rows.map(arrowed))] }
        let count = calls.count == 1 ? "1 call" : "\(calls.count) calls"
        return [
            Self.list(rows.map(arrowed)),
            .element(
                "details",
                [.element("summary", text: "\(count) to the store"), Self.list(calls)]),
        ]
    }

    private func arrowed(_ row: NamedRow) -> NamedRow {
        // Only our own words: what a store said stays as it was.
        guard row.name == "state" else { return row }
        return NamedRow(name: row.name, text: row.text.arrowed, isAside: row.isAside)
    }

    static func list(_ rows: [NamedRow]) -> Markup {
        .element(
            "dl",
            rows.flatMap { row in
                [
                    Markup.element("dt", text: row.name),
                    .element(
                        "dd", ["class": row.isAside ? "aside" : row.name], text: row.text),
                ]
            })
    }
}

extension String {
    /// A change of ours as a page shows it.
    var arrowed: String { replacing(" -> ", with: " → ") }
}
