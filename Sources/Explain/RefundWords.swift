import Ledger
import Renewal

extension StoredRefund {
    /// Such as `request 3 about order GPA.1..4, asked 2026-…; the app answered decline 2026-…; the
    /// store declined the refund`.
    var sentence: String {
        var words = ["request \(id) about order \(orderID), asked \(askedAt.reading)"]
        if let reason { words[0] += " (\(reason))" }
        if let answer, let answeredAt {
            let author = answeredBy == RefundAuthor.policy.rawValue ? "the policy" : "the app"
            words.append("\(author) answered \(answer) \(answeredAt.reading)")
        }
        switch outcome {
        case .refunded: words.append("refunded")
        case .declined: words.append("the store declined the refund")
        case nil: words.append(standing)
        }
        if let problem { words.append(problem) }
        return words.joined(separator: "; ")
    }

    private var standing: String {
        switch state {
        case "open": "to be answered by \(answerBy.reading)"
        case "answered": "the store has not told what came of it"
        case "expired": "the store had no answer by \(answerBy.reading)"
        default: state
        }
    }
}

extension Explanation.Step {
    /// News of a store came without a check.
    var isAboutRefunds: Bool {
        let reasons = [NoticeReason.refundRequested, .refundDeclined].map(\.rawValue)
        return check == nil && !events.isEmpty && events.allSatisfy { reasons.contains($0.reason) }
    }
}
