import Postgres
package import Renewal

/// Questions of stores, from when they are stored until the store has its answer.
extension PostgresLedger {
    /// Questions that one round gives.
    private static let refundLimit: Int32 = 100

    /// Says what `renewald.answer_refund` goes by from now on.
    package func follow(_ rule: RefundRule) async throws(LedgerError) {
        try await attempt {
            _ = try await self.reads.query(
                SQL.setRefundRule([
                    "answer": .text(rule.answering.rawValue), "policy": .text(rule.policy.rawValue),
                    "wait": .int64(rule.wait.microseconds), "consented": .bool(rule.isConsented),
                ]))
        }
    }

    /// Gives up what has come to its end, notes what a person is told, and reads what is to be sent
    /// for these apps.
    package func refundRound(
        of apps: [AppKey], under rule: RefundRule
    ) async throws(LedgerError) -> RefundRound {
        let isOff = rule.answering == .off
        let statements = [
            SQL.adoptRefunds(), SQL.lapseRefunds(), SQL.expireRefunds(), SQL.warnRefunds(),
            SQL.refundOutlook(),
            SQL.dueRefunds([
                "store": .texts(isOff ? [] : apps.map(\.store.rawValue)),
                "app": .texts(isOff ? [] : apps.map(\.id)),
                "decides": .bool(rule.answering == .policy), "wait": .int64(rule.wait.microseconds),
                "consented": .bool(rule.isConsented), "limit": .int32(Self.refundLimit),
            ]),
        ]
        return try await attempt {
            let results = try await self.retrying { () throws(PostgresError) in
                try await self.reads.pipeline(statements)
            }
            var round = RefundRound(
                now: try results[4][0].instant("now"),
                hasOpen: try results[4][0].bool("has_open"))
            for row in results[1...3].flatMap(\.rows) {
                round.alarms.append(
                    RefundAlarm(
                        try row.word("cause"), id: try row.int64("id"), app: try row.app(),
                        answerBy: try row.instant("answer_by")))
            }
            for row in results[5].rows {
                do throws(PostgresError) {
                    round.due.append(try row.refundCase())
                } catch {
                    guard case .decoding(let column) = error else { throw error }
                    round.unreadable.append(
                        UnreadableRequest(
                            id: try row.int64("id"), app: try row.app(), column: column))
                }
            }
            try await self.putOff(round.unreadable)
            return round
        }
    }

    /// So that those behind them have their turn.
    private func putOff(_ requests: [UnreadableRequest]) async throws(PostgresError) {
        guard !requests.isEmpty else { return }
        _ = try await reads.query(
            SQL.putOffRefunds([
                "id": .int64s(requests.map(\.id)),
                "problem": .texts(requests.map(\.problem.description)),
            ]))
    }

    /// Writes down that the answer is about to be sent.
    ///
    /// - Returns: false where somebody else was faster, the question has changed, or another
    ///   session holds it: it is not answered now.
    package func begin(_ own: RefundAttempt) async throws(LedgerError) -> Bool {
        let (one, answer) = (own.request, own.answer)
        return try await attempt {
            try await self.reads.isDone(
                SQL.beginRefund([
                    "id": .int64(one.id), "attempts": .int32(Int32(one.attempts)),
                    "token": one.question.token.map { .text($0.text) } ?? .null,
                    "given": one.given.map { .text($0.preference.rawValue) } ?? .null,
                    "worker": .uuid(own.worker.uuid),
                    "limit": .int64(own.limit.microseconds),
                    "author": .text(one.author.rawValue),
                    "answer": .text(answer.preference.rawValue),
                    "consumed": answer.consumedMilliPercent.map { .int32(Int32($0)) } ?? .null,
                    "delivered": .bool(answer.isDelivered), "sample": .bool(answer.hasSample),
                    "consented": .bool(answer.isConsented),
                ]))
        }
    }

    /// Writes down what came of it, unless a later attempt has begun.
    package func end(_ own: RefundAttempt, _ ending: RefundEnding) async throws(LedgerError) {
        try await attempt {
            _ = try await self.reads.query(
                SQL.endRefund([
                    "id": .int64(own.request.id),
                    "attempts": .int32(Int32(own.request.attempts + 1)),
                    "worker": .uuid(own.worker.uuid), "ending": .text(ending.word),
                    "problem": ending.problem.map { .text($0.description) } ?? .null,
                    "rest": .int64(ending.rest.microseconds),
                ]))
        }
    }
}

extension PostgresConnection {
    /// Whether the statement gives a row; what it needs may be held by another session.
    fileprivate func isDone(_ statement: PostgresStatement) async throws(PostgresError) -> Bool {
        do throws(PostgresError) {
            return try await !query(statement).rows.isEmpty
        } catch .conflict(.lockNotAvailable) {
            return false
        }
    }
}

extension RefundEnding {
    fileprivate var word: String {
        switch self {
        case .taken: "taken"
        case .uncertain: "uncertain"
        case .refused: "refused"
        case .later: "later"
        }
    }

    fileprivate var problem: Problem? {
        switch self {
        case .taken: nil
        case .uncertain(let problem), .refused(let problem), .later(let problem, _): problem
        }
    }

    fileprivate var rest: Duration { if case .later(_, let rest) = self { rest } else { .zero } }
}

extension PostgresRow {
    fileprivate func refundCase() throws(PostgresError) -> RefundCase {
        var given: RefundAnswer?
        if let preference: RefundPreference = try optionalWord("answer") {
            given = RefundAnswer(
                preference: preference,
                consumedMilliPercent: try optionalInt64("consumed_milli_percent").map { Int($0) },
                isDelivered: try bool("delivered"), hasSample: try bool("sample_provided"),
                isConsented: try bool("customer_consented"))
        }
        var period: Range<Timestamp>?
        // Of the purchase: what cannot be read there is not known here.
        if let start = try? optionalInstant("starts_at"), let end = try? optionalInstant("ends_at"),
            start < end
        {
            period = start..<end
        }
        return RefundCase(
            id: try int64("id"), app: try app(),
            question: RefundQuestion(
                id: try text("news"), originalID: try text("original_id"),
                order: try text("order_id"), environment: try word("environment"),
                token: try optionalText("token"), reason: try optionalText("reason"),
                askedAt: try instant("asked_at"), answerBy: try instant("answer_by"),
                accountToken: try optionalText("account_token")),
            given: given, kind: (try? optionalWord("kind")) ?? nil, period: period,
            attempts: Int(try int32("attempts")))
    }
}
