import CPostgres

/// One connection to PostgreSQL, on a thread of its own.
///
/// It connects by itself at the first call and after each loss. One call, or one transaction, runs
/// at a time; others wait for their turn. Every call ends within the limits of its settings.
/// Cancelling the task of a call cancels its statement on the server.
package actor PostgresConnection {
    private let thread = SerialThread(label: "renewald.postgres")
    private let session: Session
    private let wakeUp = WakeUp()
    private let turns = Turns()

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// Does not connect: that would block the caller's thread.
    package init(_ settings: PostgresSettings) {
        session = Session(settings, wakeUp: wakeUp)
    }

    /// Connects, when not connected. The calls below do so themselves.
    ///
    /// - Throws: `.unreachable` with a fixed phrase; `.overloaded` when the server is full.
    package func connect() async throws(PostgresError) {
        try await inTurn { session throws(PostgresError) in _ = try session.connected() }
    }

    /// Runs one statement as a transaction of its own, or as part of the one it is in.
    @discardableResult
    package func query(
        _ statement: PostgresStatement
    ) async throws(PostgresError) -> PostgresResult {
        try await inTurn { session throws(PostgresError) in
            try session.pipeline([statement])[0]
        }
    }

    /// Runs statements in one round trip and one implicit transaction: an error of any takes all
    /// of them back. They are all sent before the first answer is read.
    ///
    /// - Returns: one result for each statement.
    /// - Throws: the first error; `.commitUnknown` when the connection was lost before the answer
    ///   to a batch that writes.
    @discardableResult
    package func pipeline(
        _ statements: [PostgresStatement]
    ) async throws(PostgresError) -> [PostgresResult] {
        try await inTurn { session throws(PostgresError) in try session.pipeline(statements) }
    }

    /// Runs `body` between BEGIN and COMMIT, and nobody else's calls in between. A transaction
    /// inside another is part of it.
    ///
    /// - Throws: what `body` throws, after a rollback; `.commitUnknown` when the connection was
    ///   lost at the COMMIT of a transaction that wrote.
    @discardableResult
    package func transaction<Value: Sendable>(
        _ body: @Sendable (isolated PostgresConnection) async throws -> Value
    ) async throws -> Value {
        guard let turn = try await turns.enter() else { return try await body(self) }
        defer { turns.leave(turn) }
        return try await Turns.$held.withValue(Turns.held.union([turn])) {
            try await inTurn { session throws(PostgresError) in try session.begin() }
            let value: Value
            do {
                value = try await body(self)
            } catch {
                // Also for a cancelled task: the rollback must be sent all the same.
                session.heedsCancel = false
                defer { session.heedsCancel = true }
                session.rollBack()
                throw error
            }
            session.heedsCancel = false
            defer { session.heedsCancel = true }
            try session.commit()
            return value
        }
    }

    /// Runs several statements in one text, without parameters, as one transaction unless the text
    /// says otherwise. For migrations and tests.
    package func script(_ sql: String) async throws(PostgresError) {
        try await inTurn { session throws(PostgresError) in try session.script(sql) }
    }

    /// Runs a `COPY … FROM STDIN`.
    ///
    /// - Parameters:
    ///   - sql: the COPY statement, which also names the format of `rows`.
    ///   - rows: the data in pieces of any size, each at most 1 GB.
    /// - Returns: the number of rows that the server took.
    /// - Throws: as `query(_:)`; no row is kept then.
    @discardableResult
    package func copyIn(
        _ sql: String, rows: some Sequence<[UInt8]> & Sendable
    ) async throws(PostgresError) -> Int {
        try await inTurn { session throws(PostgresError) in
            try session.copyIn(sql, rows: rows)
        }
    }

    /// Whether a connection pooler such as PgBouncer is in between. Nothing is then prepared, and
    /// settings are made anew in each transaction.
    package func isPooled() async throws(PostgresError) -> Bool {
        try await inTurn { session throws(PostgresError) in try session.connected().isPooled }
    }

    /// Listens on channels, also after a later reconnect.
    ///
    /// - Throws: `.rejected` with 0A000 behind a connection pooler, where it does not work.
    package func listen(_ channels: [String]) async throws(PostgresError) {
        try await inTurn { session throws(PostgresError) in try session.listen(channels) }
    }

    /// Waits on the socket for a notification. Nobody else can use the connection meanwhile, so
    /// give listening one of its own.
    ///
    /// - Returns: nil when none came within `timeout`.
    /// - Throws: `.cancelled` when the task is cancelled, or by `cancel()` or `close()`;
    ///   `.unreachable` when the connection was lost, after which some may have been missed.
    package func nextNotification(
        timeout: Duration
    ) async throws(PostgresError) -> PostgresNotification? {
        try await inTurn { session throws(PostgresError) in
            try session.nextNotification(timeout: timeout)
        }
    }

    /// Ends what runs now, from any thread. Without effect on later calls.
    package nonisolated func cancel() {
        wakeUp.raise(.cancel)
    }

    /// Drops the connection, for good. A running call ends with `.cancelled` or `.commitUnknown`.
    package nonisolated func close() async {
        wakeUp.raise(.close)
        await dropNow()
    }

    /// Such as 150018 for 15.18.
    package func serverVersion() async throws(PostgresError) -> Int {
        try await inTurn { session throws(PostgresError) in
            Int(PQserverVersion(try session.connected().handle))
        }
    }

    /// The process number of the server's side of this connection.
    package func currentBackendPID() async throws(PostgresError) -> Int32 {
        try await inTurn { session throws(PostgresError) in
            PQbackendPID(try session.connected().handle)
        }
    }

    private func dropNow() {
        session.drop()
    }

    private func inTurn<Value: Sendable>(
        _ work: (Session) throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let turn = try await turns.enter()
        defer { turns.leave(turn) }
        // Only a cancellation from here on is meant for this call.
        wakeUp.forget(.cancel)
        let wakeUp = self.wakeUp
        let outcome = await withTaskCancellationHandler { () -> Result<Value, PostgresError> in
            guard !Task.isCancelled else { return .failure(.cancelled) }
            do throws(PostgresError) {
                return .success(try work(session))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            wakeUp.raise(.cancel)
        }
        return try outcome.get()
    }
}
