import Postgres
package import Renewal

/// Hints: news that a purchase may have changed. They make it due and nothing else.
extension PostgresLedger {
    /// Hints about what nobody has submitted that are kept, of all apps.
    private static let unclaimedLimit: Int64 = 100_000
    /// Types of unhandled news that are kept of a source by name.
    private static let typeLimit: Int64 = 200
    /// Hints that one statement looks up.
    private static let hintBatchLimit = 200

    /// Tells and asks about many sources of hints, in one transaction: lets go of those that were
    /// read, keeps those that are being read, and takes those that are wanted, free and due.
    ///
    /// - Returns: what the worker may read, where to go on, and how long to wait for the others.
    /// - Throws: `.unavailable` without a database: nothing of it is done then, or all.
    package func hintRound(
        _ round: HintRound, by worker: WorkerID
    ) async throws(LedgerError) -> HintTurns {
        let worker = PostgresValue.uuid(worker.uuid)
        let lease = PostgresValue.int64(round.lease.microseconds)
        let statements = [
            SQL.notePulls.with([worker] + round.ended.parameters),
            SQL.keepPulls(worker, .texts(round.kept), lease),
            SQL.claimPulls(
                worker, .texts(round.wanted), lease, .bool(round.isEarly),
                .texts(round.limited), .int64(HintRound.longestEarly.microseconds)),
            SQL.now(),
        ]
        return try await attempt {
            let results = try await self.retrying { () throws(PostgresError) in
                try await self.reads.pipeline(statements)
            }
            var turns = HintTurns(now: try results[3][0].instant("now"))
            turns.lost = Set(round.kept)
            for row in results[1].rows { turns.lost.remove(try row.text("source")) }
            for row in results[2].rows {
                let source: SourceID = try row.text("source")
                let wait = Duration.microseconds(try row.int64("wait_microseconds"))
                if try row.bool("is_claimed") {
                    turns.granted[source] = HintCursor(
                        position: try row.optionalText("position"),
                        failures: Int(try row.int32("failures")))
                    if wait > .zero { turns.early[source] = wait }
                } else {
                    turns.waits[source] = wait
                }
            }
            return turns
        }
    }

    /// Stores a page of hints in one transaction: what is known is made due, what is not is kept
    /// for a later submission, news that nobody handles is counted, and the source goes on from the
    /// page's place.
    ///
    /// - Returns: nil when another worker holds the source.
    /// - Throws: `.unavailable` without a database; nothing is stored then. Where another session
    ///   holds a question about a refund, the news about purchases is, and the page comes again.
    package func take(_ delivery: HintDelivery) async throws(LedgerError) -> HintReport? {
        var passesBy = false
        do throws(PostgresError) {
            return try await retrying { () throws(PostgresError) in
                do throws(PostgresError) {
                    return try await take(delivery, passingByWhatIsHeld: passesBy)
                } catch .conflict(.lockNotAvailable) {
                    passesBy = true
                    throw .conflict(sqlState: .lockNotAvailable)
                }
            }
        } catch .rejected(.noLongerValid, _, _) {
            return nil
        } catch {
            // A question about a refund is held: the page comes again, and its news does not wait.
            if case .conflict(.lockNotAvailable) = error, let news = delivery.purchasesOnly {
                _ = try? await take(news, passingByWhatIsHeld: true)
            }
            throw LedgerError(error)
        }
    }

    /// With `passingByWhatIsHeld` news about what another session holds waits by itself.
    private func take(
        _ delivery: HintDelivery, passingByWhatIsHeld passesBy: Bool
    ) async throws(PostgresError) -> HintReport {
        let (page, source, app) = (delivery.page, delivery.source, delivery.app)
        var statements = [
            SQL.commitPull(
                .text(source), .uuid(delivery.worker.uuid),
                page.position.map(PostgresValue.text) ?? .null,
                .int64(delivery.lease.microseconds),
                delivery.rest.map { .int64($0.microseconds) } ?? .null),
            SQL.registerApps(.texts([app.store.rawValue]), .texts([app.id])),
        ]
        let first = statements.count
        // What no store would send must not keep the news beside it from being stored.
        let hints = page.hints.filter(\.isStorable)
        for start in stride(from: 0, to: hints.count, by: Self.hintBatchLimit) {
            let batch = hints[start...].prefix(Self.hintBatchLimit)
            statements.append(
                SQL.takeHints(
                    .text(source), .text(app.store.rawValue), .text(app.id),
                    .timestamp(microsecondsSinceEpoch: delivery.began.microsecondsSinceEpoch),
                    .texts(batch.map(\.id)),
                    .optionalTexts(batch.map(\.token)), .optionalTexts(batch.map(\.originalID)),
                    .optionalTexts(batch.map(\.storedClue)),
                    .optionalTexts(batch.map(\.storedAccountToken)), .bool(passesBy),
                    .optionalInstants(batch.map(\.storedTime))))
        }
        let last = statements.count
        let record = page.unhandled.isEmpty ? nil : statements.count
        if record != nil { statements.append(Self.recordUnhandled(of: delivery)) }
        if notifies, last > first {
            statements.append(SQL.notifyDue(.text(app.store.rawValue), .text(app.id)))
        }
        let refunds = delivery.refundStatements
        let told = statements.count..<statements.count + refunds.count
        statements += refunds
        if notifies, !refunds.isEmpty { statements.append(SQL.commitNotify()) }
        let results = try await reads.pipeline(statements)
        func sum(_ column: String) throws(PostgresError) -> Int {
            var sum = 0
            for result in results[first..<last] { sum += Int(try result[0].int64(column)) }
            return sum
        }
        var report = HintReport(
            fresh: try sum("fresh"), woken: try sum("woken"),
            unclaimed: try sum("unclaimed"),
            unhandled: try record.map { index throws(PostgresError) in
                try results[index].rows.map(UnhandledCount.init)
            } ?? [])
        report.refundNotices = try delivery.refundNotices(results[told])
        return report
    }

    private static func recordUnhandled(of delivery: HintDelivery) -> PostgresStatement {
        let news = delivery.page.unhandled
        return SQL.recordUnhandled(
            .text(delivery.source), .text(delivery.app.store.traits.newsSource),
            .texts(news.map { NewsID(withoutNUL($0.id.text)) }),
            .texts(news.map { withoutNUL($0.type) }), .bools(news.map(\.isExpected)),
            .int64(typeLimit))
    }

    private static func withoutNUL(_ text: String) -> String {
        guard text.utf8.contains(0) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value != 0 }))
    }

    /// Forgets what is old of the hints that were taken in. Before that, purchases that were
    /// submitted while a hint about them came get what it said, and those that another session held
    /// then are made due.
    package func forgetOldHints() async throws(LedgerError) {
        try await attempt {
            _ = try await self.reads.pipeline([
                SQL.adoptHints(), SQL.wakeWaiting(), SQL.pruneHeardHints(), SQL.pruneClues(),
                SQL.pruneUnclaimedHints(.int64(Self.unclaimedLimit)),
            ])
        }
    }
}

extension [HintReading] {
    /// What `note_pulls` takes, after the worker.
    fileprivate var parameters: [PostgresValue] {
        [
            .texts(map(\.source)), .optionalTexts(map(\.position)),
            .bools(map { $0.outcome == .read }), .int64s(map { $0.rest.microseconds }),
            .optionalInt64s(map(\.failures)),
            .optionalTexts(
                map { reading in
                    if case .failed(let problem, _) = reading.outcome {
                        problem.description
                    } else {
                        nil
                    }
                }),
        ]
    }
}

extension HintReading {
    fileprivate var failures: Int64? {
        switch outcome {
        case .read: 0
        case .failed(_, let failures): Int64(Int32(clamping: failures))
        case .left: nil
        }
    }
}

extension HintDelivery {
    /// Its news about purchases, without a place to go on; nil where it has nothing about refunds.
    /// What nobody handles is told by whoever records it, and so comes with the whole page.
    fileprivate var purchasesOnly: HintDelivery? {
        guard !page.questions.isEmpty || !page.rulings.isEmpty else { return nil }
        var page = page
        (page.questions, page.rulings, page.unhandled, page.position) = ([], [], [], nil)
        var news = HintDelivery(
            page, from: source, about: app, by: worker, lease: lease, began: began)
        news.rest = rest
        return news
    }
}

extension Hint {
    /// PostgreSQL takes no NUL.
    fileprivate var isStorable: Bool {
        [id.text, token?.text ?? "", originalID?.text ?? ""].allSatisfy { !$0.utf8.contains(0) }
    }

    fileprivate var token: StoreToken? {
        guard case .token(let token) = subject else { return nil }
        return token
    }

    /// Nil also for one before there were stores, or that the database has no date for.
    fileprivate var storedTime: Timestamp? {
        happenedAt.flatMap { $0.microsecondsSinceEpoch > 0 && $0 < .never ? $0 : nil }
    }

    /// Nil also for one that no store would give and no index would take.
    fileprivate var storedClue: String? {
        guard let text = clue?.text, text.utf8.count <= 200, !text.utf8.contains(0) else {
            return nil
        }
        return text
    }

    fileprivate var storedAccountToken: String? {
        guard let text = accountToken, !text.isEmpty, text.utf8.count <= 200,
            !text.utf8.contains(0)
        else { return nil }
        return text
    }

    fileprivate var originalID: OrderID? {
        guard case .originalID(let id) = subject else { return nil }
        return id
    }
}

extension UnhandledCount {
    fileprivate init(_ row: PostgresRow) throws(PostgresError) {
        self.init(
            type: try row.text("type"), fresh: Int(try row.int64("fresh")),
            isNew: try row.bool("is_new"), isExpected: try row.bool("expected"))
    }
}
