import Ledger
import Renewal

/// What `renewald explain` shows a person on a terminal: first what each user has now and why, then
/// how each purchase came to that, newest last.
package struct ExplanationText {
    private let explanation: Explanation
    private let question: String

    /// Longer than any id of an order: it may be a token, and is not repeated.
    private static let longestID = 64

    /// What was asked is repeated only where nothing was found.
    package init(_ explanation: Explanation, question: String) {
        self.explanation = explanation
        self.question = question
    }

    package var lines: [TextLine] {
        var lines = explanation.notes.map { TextLine("", $0) }
        guard !explanation.users.isEmpty else {
            let name = question.count > Self.longestID ? "that id" : question
            return lines + [TextLine("", "\(name): no purchases")]
        }
        for (index, user) in explanation.users.enumerated() {
            if index > 0 || !lines.isEmpty { lines.append(.empty) }
            lines += rows(of: user)
        }
        return lines
    }

    // MARK: What is held now

    private func rows(of user: Explanation.User) -> [TextLine] {
        let purchases = user.purchases.count + user.unread.count
        var lines = [
            TextLine(
                "",
                "\(user.id): \(purchases) purchase\(purchases == 1 ? "" : "s"), as of "
                    + explanation.now.reading, tone: .title)
        ]
        for held in user.holdings { lines += rows(of: held) }
        if user.holdings.isEmpty {
            lines.append(TextLine("  ", "has never held anything", tone: .bad))
        }
        for purchase in user.purchases { lines += [.empty] + rows(of: purchase) }
        for parted in user.transferred { lines += [.empty] + rows(of: parted, from: user.id) }
        for claimed in user.claimed { lines += [.empty] + rows(of: claimed) }
        for unread in user.unread { lines += [.empty] + rows(of: unread) }
        return lines
    }

    private func rows(of held: Explanation.Held) -> [TextLine] {
        let telling = HeldWords(held)
        var lines = [
            TextLine("  ", telling.headline, tone: held.entitlement.active ? .good : .bad)
        ]
        lines += telling.reasons.map { TextLine("    ", $0) }
        return lines
    }

    // MARK: One purchase

    private func rows(of purchase: Explanation.Purchase) -> [TextLine] {
        let words = PurchaseWords(purchase)
        var lines = [TextLine("", "purchase \(purchase.id): \(words.title)", tone: .title)]
        lines += words.rows.map { TextLine(lead($0.name, indent: 2), $0.text) }
        lines += rows(of: purchase.steps, by: purchase.userID)
        lines += [.empty, TextLine(lead("next", indent: 2), purchase.next.sentence)]
        return lines
    }

    private func rows(of parted: Explanation.Transferred, from user: UserID) -> [TextLine] {
        [
            TextLine("", "purchase \(parted.id): \(parted.title)", tone: .title),
            TextLine(lead("now", indent: 2), Explanation.Transferred.situation),
        ] + rows(of: parted.steps, by: user)
    }

    private func rows(of claimed: Explanation.Claimed) -> [TextLine] {
        [
            TextLine("", "purchase \(claimed.id): \(claimed.title)", tone: .title),
            TextLine(lead("now", indent: 2), claimed.situation),
            TextLine(lead("next", indent: 2), claimed.chances),
        ]
    }

    private func rows(of unread: UnreadablePurchase) -> [TextLine] {
        [
            TextLine("", "purchase \(unread.id): \(unread.title)", tone: .title),
            TextLine(lead("problem", indent: 2), "\(unread.problem)", tone: .bad),
        ]
    }

    private func rows(of steps: [Explanation.Step], by user: UserID) -> [TextLine] {
        steps.words(of: user).flatMap { step, words in [.empty] + rows(of: step, words) }
    }

    private func rows(of step: Explanation.Step, _ words: StepWords) -> [TextLine] {
        var lines = [TextLine("  \(step.at.reading)  ", words.headline, tone: tone(of: step))]
        lines += words.rows.map { row in
            TextLine(lead(row.name, indent: 4), row.text, tone: row.isAside ? .quiet : .plain)
        }
        return lines
    }

    private func tone(of step: Explanation.Step) -> TextLine.Tone {
        if step.events.contains(where: { $0.kind == "revoke" }) { return .bad }
        if step.events.contains(where: { $0.kind == "grant" }) { return .good }
        return .title
    }

    private func lead(_ name: String, indent: Int) -> String {
        String(repeating: " ", count: indent) + name
            + String(repeating: " ", count: max(1, 11 - name.count))
    }
}
