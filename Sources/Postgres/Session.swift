import CPostgres

/// A notification that another session sent with NOTIFY.
package struct PostgresNotification: Hashable, Sendable {
    /// The channel.
    package let channel: String
    /// The text after the channel, or empty.
    package let payload: String
    /// The process number of the server's session that sent it.
    package let backendPID: Int32

    package init(channel: String, payload: String, backendPID: Int32) {
        self.channel = channel
        self.payload = payload
        self.backendPID = backendPID
    }
}

/// What a connection remembers and does, one blocking call after the other. Belongs to one actor
/// and runs on its thread.
final class Session {
    enum Block {
        case none
        /// Between BEGIN and COMMIT; the statements so far tell whether a COMMIT writes.
        case open(statements: [PostgresStatement])
        /// The connection was lost inside: nothing may run until the block is left.
        case lost(PostgresError)
    }

    let settings: PostgresSettings
    let wakeUp: WakeUp
    var link: Link?
    var prepared = PreparedStatements()
    var block = Block.none
    /// What was listened to, to be listened to again after a reconnect.
    var channels: [String] = []
    /// False for calls that must end their work whatever the task wants, such as ROLLBACK.
    var heedsCancel = true

    init(_ settings: PostgresSettings, wakeUp: WakeUp) {
        self.settings = settings
        self.wakeUp = wakeUp
    }

    /// The open connection, made now when there is none.
    func connected() throws(PostgresError) -> Link {
        if case .lost(let error) = block { throw error }
        if wakeUp.current.contains(.close) { throw .cancelled }
        if let link, link.isAlive { return link }
        if case .open = block {
            throw lose(.unreachable(reason: "the connection was lost"))
        }
        drop()
        let link = try Link.open(settings, wakeUp: wakeUp)
        self.link = link
        do throws(PostgresError) {
            guard PQenterPipelineMode(link.handle) == 1 else {
                throw .unreachable(reason: "libpq has no pipeline mode")
            }
            link.isPooled = try isPooled(link)
            if !link.isPooled {
                _ = try pipeline([
                    PostgresStatement(settings.settling(.session), isReadOnly: true)
                ])
            }
            if !channels.isEmpty, !link.isPooled { _ = try pipeline(Self.listening(channels)) }
        } catch {
            drop()
            throw error
        }
        return link
    }

    /// Forgets the connection and all that lived in it.
    func drop() {
        link = nil
        prepared = PreparedStatements()
    }

    /// Drops the connection; inside a transaction the rest of its body gets the same error.
    func lose(_ error: PostgresError) -> PostgresError {
        drop()
        if case .open = block { block = .lost(error) }
        return error
    }

    var deadline: ContinuousClock.Instant {
        .now + settings.statementTimeout + PostgresSettings.answerMargin
    }

    static func listening(_ channels: [String]) -> [PostgresStatement] {
        channels.map { channel in
            let quoted = channel.split(separator: "\"", omittingEmptySubsequences: false)
                .joined(separator: "\"\"")
            return PostgresStatement("LISTEN \"\(quoted)\"", isReadOnly: true)
        }
    }
}

// MARK: - Transactions

extension Session {
    func begin() throws(PostgresError) {
        _ = try connected()
        _ = try pipeline([PostgresStatement("BEGIN", isReadOnly: true)])
        block = .open(statements: [])
    }

    /// - Throws: `.commitUnknown` when a writing transaction's answer did not come.
    func commit() throws(PostgresError) {
        if case .lost(let error) = block {
            block = .none
            throw error
        }
        var isReadOnly = true
        if case .open(let statements) = block {
            isReadOnly = statements.allSatisfy(\.isReadOnly)
        }
        guard let link, PQstatus(link.handle) == CONNECTION_OK else {
            block = .none
            throw .unreachable(reason: "the connection was lost")
        }
        block = .none
        let commit = PostgresStatement("COMMIT", isReadOnly: isReadOnly)
        let tag = try pipeline([commit], endsBlock: true)[0].table.commandTag
        guard tag == "COMMIT" else {
            throw .rejected(
                sqlState: .failedTransaction,
                message: "a statement of the transaction had failed", statement: 0)
        }
    }

    /// Rolls back, or drops the connection, which has the same effect.
    func rollBack() {
        let isOpen = if case .open = block { true } else { false }
        block = .none
        guard isOpen, link != nil else { return }
        do throws(PostgresError) {
            _ = try pipeline(
                [PostgresStatement("ROLLBACK", isReadOnly: true)], endsBlock: true)
        } catch {
            drop()
        }
    }
}

// MARK: - The simple protocol

extension Session {
    /// Several statements in one text, as one transaction unless it says otherwise.
    func script(_ sql: String) throws(PostgresError) {
        _ = try outsidePipeline { (link) throws(PostgresError) in
            try SimpleExchange(session: self, link: link, writes: true)
                .run(settling(on: link) + sql)
        }
    }

    /// COPY FROM STDIN, outside of the pipeline mode, which has no COPY.
    ///
    /// - Returns: the number of rows that the server took.
    func copyIn(_ sql: String, rows: some Sequence<[UInt8]>) throws(PostgresError) -> Int {
        try outsidePipeline { (link) throws(PostgresError) in
            try SimpleExchange(session: self, link: link, writes: true)
                .run(settling(on: link) + sql) { (exchange) throws(WaitFailure) in
                    try exchange.send(rows)
                }
        }
    }

    /// What goes before a text of statements where no setting outlives a transaction.
    private func settling(on link: Link) -> String {
        guard link.isPooled, !isInBlock else { return "" }
        return "\(PostgresSettings.isolating); \(settings.settling(.transaction)); "
    }

    private func outsidePipeline(
        _ work: (Link) throws(PostgresError) -> Int
    ) throws(PostgresError) -> Int {
        let link = try connected()
        guard PQexitPipelineMode(link.handle) == 1 else {
            throw lose(.unreachable(reason: "the connection was lost"))
        }
        defer {
            if self.link != nil, PQenterPipelineMode(link.handle) != 1 { drop() }
        }
        if case .open(let statements) = block {
            // What a script does inside a transaction is taken for writing.
            block = .open(statements: statements + [PostgresStatement("", isReadOnly: false)])
        }
        return try work(link)
    }
}

extension EncodingFault {
    func error(statement: Int) -> PostgresError {
        .rejected(sqlState: sqlState, message: message, statement: statement)
    }
}
