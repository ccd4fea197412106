import Postgres
package import Renewal

/// Hints: news that a purchase may have changed. They make it due and nothing else.
extension PostgresLedger {
    /// Hints about what nobody has submitted that are kept, of all apps.
    private static let unclaimedLimit: Int64 = 100_000
    /// Hints that one statement looks up.
    private static let hintBatchLimit = 200

    /// Takes a source of hints for a worker, if it is free and due.
    ///
    /// - Parameters:
    ///   - source: its name.
    ///   - worker: who reads it.
    ///   - lease: how long it is his without another word.
    ///   - isEarly: also before it is due.
    /// - Returns: where to go on, or how long to wait.
    /// - Throws: `.unavailable` without a database.
    package func beginPull(
        of source: SourceID, by worker: WorkerID, lease: Duration, isEarly: Bool = false
    ) async throws(LedgerError) -> HintTurn {
        try await attempt {
            let rows = try await self.reads.query(
                SQL.beginPull(
                    .text(source), .uuid(worker.uuid), .int64(lease.microseconds),
                    .bool(isEarly)))
            if let row = rows.rows.first {
                return .mayPull(
                    position: try row.optionalText("position"),
                    failures: Int(try row.int32("failures")), now: try row.instant("now"))
            }
            let wait = try await self.reads.query(SQL.pullWait(.text(source)))[0]
                .int64("wait_microseconds")
            return .wait(.microseconds(max(wait, 0)))
        }
    }

    /// Stores a page of hints in one transaction: what is known is made due, what is not is kept
    /// for a later submission, and the source goes on from the page's place.
    ///
    /// - Parameters:
    ///   - page: of the source.
    ///   - source: held by the worker; nothing is stored when it is not any more.
    ///   - app: what the hints are about.
    ///   - worker: who reads it.
    ///   - lease: how long it stays his.
    ///   - began: the database's time when the pull began: what was checked since is left.
    /// - Returns: nil when another worker holds the source.
    /// - Throws: `.unavailable` without a database; nothing is stored then.
    package func take(
        _ page: HintPage, from source: SourceID, about app: AppKey, by worker: WorkerID,
        lease: Duration, began: Timestamp
    ) async throws(LedgerError) -> HintReport? {
        var statements = [
            SQL.commitPull(
                .text(source), .uuid(worker.uuid), page.position.map(PostgresValue.text) ?? .null,
                .int64(lease.microseconds)),
            SQL.registerApps(.texts([app.store.rawValue]), .texts([app.id])),
        ]
        let first = statements.count
        for start in stride(from: 0, to: page.hints.count, by: Self.hintBatchLimit) {
            let batch = page.hints[start...].prefix(Self.hintBatchLimit)
            statements.append(
                SQL.takeHints(
                    .text(source), .text(app.store.rawValue), .text(app.id),
                    .timestamp(microsecondsSinceEpoch: began.microsecondsSinceEpoch),
                    .texts(batch.map(\.id)),
                    .optionalTexts(batch.map(\.token)), .optionalTexts(batch.map(\.originalID)),
                    .optionalTexts(batch.map(\.storedClue))))
        }
        let last = statements.count
        if notifies, last > first {
            statements.append(SQL.notifyDue(.text(app.store.rawValue), .text(app.id)))
        }
        do throws(PostgresError) {
            let transaction = statements
            let results = try await insist { () throws(PostgresError) in
                try await self.reads.pipeline(transaction)
            }
            func sum(_ column: String) throws(PostgresError) -> Int {
                var sum = 0
                for result in results[first..<last] { sum += Int(try result[0].int64(column)) }
                return sum
            }
            return HintReport(
                fresh: try sum("fresh"), woken: try sum("woken"),
                unclaimed: try sum("unclaimed"))
        } catch .rejected(sqlState: "22012", _, _) {
            return nil
        } catch {
            throw LedgerError(error)
        }
    }

    /// Lets go of a source until it is due again, and forgets what is old.
    package func endPull(
        of source: SourceID, by worker: WorkerID, next: Duration, failures: Int = 0,
        problem: Problem? = nil
    ) async throws(LedgerError) {
        try await attempt {
            _ = try await self.reads.pipeline([
                SQL.endPull(
                    .text(source), .uuid(worker.uuid), .int64(next.microseconds),
                    .int32(Int32(clamping: failures)),
                    problem.map { .text($0.description) } ?? .null),
                SQL.pruneHeardHints(), SQL.pruneClues(),
                SQL.pruneUnclaimedHints(.int64(Self.unclaimedLimit)),
            ])
        }
    }
}

extension Hint {
    fileprivate var token: StoreToken? {
        guard case .token(let token) = subject else { return nil }
        return token
    }

    /// Nil also for one that no store would give and no index would take.
    fileprivate var storedClue: String? {
        guard let text = clue?.text, text.utf8.count <= 200, !text.utf8.contains(0) else {
            return nil
        }
        return text
    }

    fileprivate var originalID: OrderID? {
        guard case .originalID(let id) = subject else { return nil }
        return id
    }
}
