import Postgres
import Renewal

/// What a page of news says about refunds: stored and told in the page's own transaction.
extension HintDelivery {
    /// Ids that are longer are none of a store's.
    private static let idLimitBytes = 1024
    private static let wordLimitBytes = 200

    /// The last statements of the transaction, as each may raise the counter of the events. They
    /// give what they tell.
    var refundStatements: [PostgresStatement] {
        let questions = page.questions.filter { $0.isStorable(within: Self.idLimitBytes) }
        let rulings = page.rulings.filter { ruling in
            [ruling.id.text, ruling.order.text].allSatisfy { $0.isStorable(Self.idLimitBytes) }
        }
        // A question that came after a ruling is not closed by it.
        return [
            statement(of: rulings.filter { $0.isOvertaken(by: questions) }),
            questions.isEmpty ? nil : statement(of: questions),
            statement(of: rulings.filter { !$0.isOvertaken(by: questions) }),
        ].compactMap { $0 }
    }

    private func statement(of rulings: [RefundRuling]) -> PostgresStatement? {
        guard !rulings.isEmpty else { return nil }
        return SQL.takeRefundRulings([
            "source": .text(source), "store": .text(app.store.rawValue),
            "app": .text(app.id), "news": .texts(rulings.map(\.id)),
            "order_id": .texts(rulings.map(\.order)),
            "outcome": .texts(rulings.map(\.outcome.rawValue)),
        ])
    }

    private func statement(of questions: [RefundQuestion]) -> PostgresStatement {
        func words(_ word: (RefundQuestion) -> String?) -> PostgresValue {
            .optionalTexts(
                questions.map { question in
                    word(question).flatMap { $0.isStorable(Self.wordLimitBytes) ? $0 : nil }
                })
        }
        return SQL.takeRefundQuestions([
            "store": .text(app.store.rawValue), "app": .text(app.id),
            "news": .texts(questions.map(\.id)),
            "original_id": .texts(questions.map(\.originalID)),
            "order_id": .texts(questions.map(\.order)),
            "environment": .texts(questions.map(\.environment.rawValue)),
            "token": .optionalTexts(questions.map(\.token)), "reason": words(\.reason),
            "asked_at": .instants(questions.map(\.askedAt)),
            "answer_by": .instants(questions.map(\.answerBy)),
            "account_token": words(\.accountToken),
        ])
    }

    /// What the statements have told.
    func refundNotices(
        _ results: ArraySlice<PostgresResult>
    ) throws(PostgresError) -> [RefundNotice] {
        var notices: [RefundNotice] = []
        for row in results.flatMap(\.rows) {
            notices.append(
                RefundNotice(
                    try row.word("reason"), of: app,
                    requestID: try row.optionalInt64("request_id"),
                    purchaseID: try row.optionalInt64("purchase_id"),
                    userID: try row.optionalText("user_id"),
                    answerBy: try row.optionalInstant("answer_by")))
        }
        return notices
    }
}

extension RefundQuestion {
    /// One that is not is nonsense, and would keep the page from being stored.
    fileprivate func isStorable(within limitBytes: Int) -> Bool {
        [id.text, originalID.text, order.text].allSatisfy { $0.isStorable(limitBytes) }
            && token?.text.utf8.contains(0) != true
            && [askedAt, answerBy].allSatisfy { $0.microsecondsSinceEpoch >= 0 && $0 < .never }
    }
}

extension String {
    fileprivate func isStorable(_ limitBytes: Int) -> Bool {
        utf8.count <= limitBytes && !utf8.contains(0)
    }
}
