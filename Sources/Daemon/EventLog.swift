import Logging
import Renewal

/// One line for each event, and one for each purchase that begins to have a problem.
enum EventLog {
    static func write(_ report: CommitReport, to log: Logger) {
        for event in report.events { log.info("\(event.sentence)") }
        for outcome in report.committed {
            guard let problem = outcome.decision.problem, outcome.claim.attempts == 0 else {
                continue
            }
            let claim = outcome.claim
            log.notice(
                "purchase \(claim.purchase.id) (\(claim.purchase.app.store.rawValue)): \(problem)")
        }
    }
}

extension Event {
    /// Such as `grant pro to u-17: purchased (google monthly, purchase 12, until 2026-…Z)`.
    package var sentence: String {
        let isRevoke = if case .revoke = told { true } else { false }
        let until =
            isRevoke
            ? ", since \(effectiveAt.text)" : expiresAt.map { ", until \($0.text)" } ?? ""
        let about = "(\(app.store.rawValue) \(product), purchase \(purchaseID)\(until))"
        guard let entitlement else {
            return "notice for \(userID): \(told.reason) \(about)"
        }
        let towards = told.kind == "grant" ? "to" : "from"
        return "\(told.kind) \(entitlement) \(towards) \(userID): \(told.reason) \(about)"
    }
}
