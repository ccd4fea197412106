package import Configuration
import Crypto
import Engine
import Ledger
import Logging
package import Renewal
import Sockets
import Synchronization

/// One line for each event, and one for each purchase that begins to have a problem.
///
/// Grants, notices and what passes by itself are summed up where there are many of them; each
/// revoke and whatever a person has to mend is told.
final class EventLog: Sendable {
    /// How a user is named in the log.
    private let userNames: UserNames
    private let budget = Mutex(LineBudget())
    private let late = DelayedCall(label: "renewald.lines")

    init(userNames: UserNames) {
        self.userNames = userNames
    }

    /// Whether a line of little weight is written; with the first that is not a summary is due.
    private func admits(_ word: String, _ log: Logger) -> Bool {
        let (isAdmitted, isFirst) = budget.withLock { budget in
            let wasEmpty = budget.isEmpty
            let isAdmitted = budget.admits(word, at: .now)
            return (isAdmitted, wasEmpty && !isAdmitted)
        }
        if isFirst {
            late.call(after: LineBudget.span) { [weak self] in self?.summarise(log) }
        }
        return isAdmitted
    }

    private func summarise(_ log: Logger) {
        guard let summary = budget.withLock({ $0.summary() }) else { return }
        log.info(.linesSummarised(summary), metadata: LogField.topic(.linesSummarised))
    }

    /// Once each: what is set aside does not come due.
    func write(setAside purchases: [UnreadablePurchase], to log: Logger) {
        for purchase in purchases {
            let problem = purchase.problem
            var fields: Logger.Metadata = [
                LogField.topic: "\(problem.code.topic)",
                LogField.problem: "\(problem.code.rawValue)",
                LogField.purchase: "\(purchase.id)",
            ]
            if let app = purchase.app {
                fields[LogField.store] = "\(app.store.rawValue)"
                fields[LogField.app] = "\(app.id)"
            }
            if let user = purchase.userID { fields["user"] = "\(userNames.name(of: user))" }
            log.log(
                level: problem.code.level, .purchaseSetAside(purchase.id, problem),
                metadata: fields)
        }
    }

    /// Each of them: a deadline is for a person to know.
    func write(_ notice: RefundNotice, to log: Logger) {
        let kind = EventKind.notice(notice.reason)
        var fields: Logger.Metadata = [
            LogField.topic: "\(kind.topic)", LogField.store: "\(notice.app.store.rawValue)",
            LogField.app: "\(notice.app.id)", "event": "\(kind.name)",
            "reason": "\(kind.reason)",
        ]
        var about = [notice.app.store.rawValue]
        let user = notice.userID.map(userNames.name)
        if let user { fields["user"] = "\(user)" }
        if let purchase = notice.purchaseID {
            fields[LogField.purchase] = "\(purchase)"
            about.append("purchase \(purchase)")
        }
        if let request = notice.requestID {
            fields["request"] = "\(request)"
            about.append("request \(request)")
        }
        if let answerBy = notice.answerBy {
            fields["answer_by"] = "\(answerBy.text)"
            about.append("answer by \(answerBy.text)")
        }
        log.info(.refundNotice(for: user, kind.reason, about), metadata: fields)
    }

    /// - Parameters:
    ///   - report: of a commit.
    ///   - detections: by each of its events.
    ///   - log: where to say it.
    func write(_ report: CommitReport, _ detections: [Detection?], to log: Logger) {
        for (event, detection) in zip(report.events, detections) {
            if event.kind.name != "revoke", !admits("\(event.kind.name)s", log) { continue }
            let user = userNames.name(of: event.userID)
            log.info(
                "\(event.sentence(naming: user))",
                metadata: event.fields(naming: user, lag: detection?.lag))
        }
        for outcome in report.committed where outcome.claim.attempts == 0 {
            guard let problem = outcome.schedule.problem else { continue }
            // Said when it begins: beside a verdict, each check finds it again.
            if problem.code == outcome.claim.problemCode { continue }
            let level = problem.code.level
            if level == .info, !admits("problems (\(problem.code.rawValue))", log) { continue }
            let purchase = outcome.claim.purchase
            log.log(
                level: level,
                .purchaseNotJudged(purchase.id, of: purchase.app.store, problem),
                metadata: [
                    LogField.topic: "\(problem.code.topic)",
                    LogField.problem: "\(problem.code.rawValue)",
                    LogField.purchase: "\(purchase.id)",
                    LogField.store: "\(purchase.app.store.rawValue)",
                    LogField.app: "\(purchase.app.id)",
                    "user": "\(userNames.name(of: purchase.userID))",
                ])
        }
    }
}

extension UserNames {
    /// Digits of a pseudonym: 64 bits.
    private static let digits = 16

    /// - Returns: the id itself, or the first 16 hexadecimal digits of its SHA-256.
    package func name(of userID: UserID) -> String {
        switch self {
        case .plain: userID.text
        case .hashed:
            SHA256.hash(data: Array(userID.text.utf8)).prefix(Self.digits / 2).hexDigits
        }
    }
}

extension Problem.Code {
    /// A normal day has nothing above `info`: what passes by itself is not worth a notice.
    fileprivate var level: Logger.Level {
        switch self {
        case .unreachable, .throttled, .secondOpinion, .notFound, .rejected: .info
        case .refused, .malformed, .signature, .mismatch, .unsupported, .unacknowledged, .clock:
            .notice
        case .setAside: .error
        }
    }
}

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
