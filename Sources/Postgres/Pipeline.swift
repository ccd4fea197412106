import CPostgres

/// What is prepared on one connection.
struct PreparedStatements {
    struct Entry {
        let sql: String
        let types: [UInt32]

        /// Whether values of `types` may be sent to it: a NULL fits any type, but a value does not
        /// fit a type that the server has inferred for a NULL.
        func takes(_ sql: String, _ types: [UInt32]) -> Bool {
            self.sql == sql && self.types.count == types.count
                && zip(self.types, types).allSatisfy { mine, other in
                    mine == other || other == TypeOID.unspecified
                }
        }
    }

    var entries: [String: Entry] = [:]
    /// The server has refused one of them: all must be prepared anew.
    var isStale = false
}

/// One message group of a pipeline, answered by one result.
private enum Command {
    /// Makes the settings of a transaction, where those of the session cannot be relied on.
    case settle(sql: String)
    case deallocateAll
    case deallocate(name: String)
    case prepare(name: String, PreparedStatements.Entry, statement: Int)
    case execute(statement: Int, prepared: String?, wasKept: Bool)

    var statement: Int {
        switch self {
        case .settle, .deallocateAll, .deallocate: 0
        case .prepare(_, _, let statement), .execute(let statement, _, _): statement
        }
    }
}

extension Session {
    var isInBlock: Bool {
        if case .open = block { true } else { false }
    }

    /// Sends all statements at once with a single Sync, and reads all their answers.
    ///
    /// - Parameters:
    ///   - statements: at least one, or nothing happens.
    ///   - endsBlock: whether it is the COMMIT or ROLLBACK of an explicit transaction.
    /// - Returns: one result for each statement.
    /// - Throws: the first error; nothing of the pipeline is then kept.
    func pipeline(
        _ statements: [PostgresStatement], endsBlock: Bool = false
    ) throws(PostgresError) -> [PostgresResult] {
        guard !statements.isEmpty else { return [] }
        var encodings: [ParameterEncoding] = []
        encodings.reserveCapacity(statements.count)
        for (index, statement) in statements.enumerated() {
            do throws(EncodingFault) {
                guard !statement.sql.utf8.contains(0) else { throw .nulInStatement }
                encodings.append(try ParameterEncoding(statement.parameters))
            } catch {
                throw error.error(statement: index)
            }
        }
        let link = try connected()
        note(statements)
        let batch = Batch(statements: statements, encodings: encodings, endsBlock: endsBlock)
        if let results = try run(batch, on: link) { return results }
        // A plan had gone stale and nothing was committed: once more, with all prepared anew.
        guard let results = try run(batch, on: link) else {
            throw .conflict(sqlState: .featureNotSupported)
        }
        return results
    }

    /// Notes what an open transaction runs, without its values: it may run for long.
    private func note(_ statements: [PostgresStatement]) {
        guard case .open(var earlier) = block else { return }
        block = .none
        earlier += statements.map(\.withoutValues)
        if earlier.count > Self.noteLimit {
            let isReadOnly = earlier.allSatisfy(\.isReadOnly)
            earlier = [PostgresStatement("", isReadOnly: isReadOnly)]
        }
        block = .open(statements: earlier)
    }

    /// Statements of a transaction that are remembered one by one.
    private static let noteLimit = 1000

    private struct Batch {
        let statements: [PostgresStatement]
        let encodings: [ParameterEncoding]
        let endsBlock: Bool
    }

    /// - Returns: nil when a kept plan has gone stale and the batch may be tried again.
    private func run(_ batch: Batch, on link: Link) throws(PostgresError) -> [PostgresResult]? {
        let commands = plan(batch, on: link)
        for command in commands {
            guard send(command, of: batch, on: link) else {
                throw lose(.unreachable(reason: "the connection was lost"))
            }
        }
        guard PQpipelineSync(link.handle) == 1 else {
            throw lose(.unreachable(reason: "the connection was lost"))
        }
        var exchange = Exchange(session: self, link: link)
        defer { exchange.settle() }
        var results: [PostgresResult] = []
        results.reserveCapacity(batch.statements.count)
        var answered = 0
        var failure: (report: ServerReport, command: Int)?
        do throws(WaitFailure) {
            while true {
                guard let result = try exchange.next() else { continue }
                if result.status == PGRES_PIPELINE_SYNC { break }
                let command = commands.indices.contains(answered) ? commands[answered] : nil
                switch result.status {
                case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
                    if let command { note(command, result, in: &results) }
                case PGRES_PIPELINE_ABORTED: break
                case PGRES_FATAL_ERROR:
                    let report = result.report
                    failure = failure ?? (report, answered)
                    if report.endsConnection || !report.isFromServer { throw .lost }
                // COPY has no place in a pipeline.
                default: throw .lost
                }
                answered += 1
            }
        } catch {
            // What a pooler says in the server's place tells nothing of what the server did.
            let wasRolledBack = failure.map { failure in
                failure.report.isFromServer && failure.command < commands.count && !link.isPooled
            }
            throw lossOf(
                batch, error, exchange, wasRolledBack: wasRolledBack ?? false,
                report: failure?.report)
        }
        guard let failure else { return results }
        let command = commands[min(failure.command, commands.count - 1)]
        return try fail(failure.report, command, exchange)
    }

    /// Keeps what the server has done.
    private func note(
        _ command: Command, _ result: ResultTable, in results: inout [PostgresResult]
    ) {
        switch command {
        case .settle: break
        case .deallocateAll: prepared = PreparedStatements()
        case .deallocate(let name): prepared.entries[name] = nil
        case .prepare(let name, let entry, _): prepared.entries[name] = entry
        case .execute: results.append(PostgresResult(table: result))
        }
    }

    /// The error of a batch whose last answer did not come.
    private func lossOf(
        _ batch: Batch, _ failure: WaitFailure, _ exchange: Exchange, wasRolledBack: Bool,
        report: ServerReport?
    ) -> PostgresError {
        // A server that ends the connection in place of a statement's answer has not come to the
        // Sync. For a COMMIT it may have: the answer follows the commit.
        let isSafe =
            isInBlock || (wasRolledBack && !batch.endsBlock)
            || batch.statements.allSatisfy(\.isReadOnly)
        if isSafe, let report, report.isFromServer {
            return lose(report.error(statement: 0, cancelWasAsked: false))
        }
        return exchange.error(failure, mayHaveCommitted: !isSafe)
    }

    /// The error of a batch that the server refused, its connection still good.
    ///
    /// - Returns: nil when the batch may be tried again.
    private func fail(
        _ report: ServerReport, _ command: Command, _ exchange: Exchange
    ) throws(PostgresError) -> [PostgresResult]? {
        let error = report.error(
            statement: command.statement, cancelWasAsked: exchange.cancelWasAsked)
        if case .execute(_, _, wasKept: true) = command,
            [.featureNotSupported, .unknownPreparedStatement].contains(report.sqlState)
        {
            prepared.isStale = true
            if isInBlock { throw .conflict(sqlState: report.sqlState) }
            return nil
        }
        if settings.isForeign, report.sqlState == .readOnlyTransaction, !report.endsConnection {
            throw .rejected(
                sqlState: report.sqlState, message: report.message, statement: command.statement)
        }
        if report.isLoss { throw lose(error) }
        throw error
    }
}

// MARK: - Sending

extension Session {
    private func plan(_ batch: Batch, on link: Link) -> [Command] {
        var commands: [Command] = []
        commands.reserveCapacity(batch.statements.count)
        if link.isPooled, !isInBlock, !batch.endsBlock {
            commands.append(.settle(sql: PostgresSettings.isolating))
            commands.append(.settle(sql: settings.settling(.transaction)))
        }
        // Only names whose preparation is under way; `prepared` changes as the answers come.
        var planned = prepared.entries
        var fresh: Set<String> = []
        if prepared.isStale, !isInBlock {
            commands.append(.deallocateAll)
            planned = [:]
        }
        for (index, statement) in batch.statements.enumerated() {
            guard let name = statement.name, !link.isPooled else {
                commands.append(.execute(statement: index, prepared: nil, wasKept: false))
                continue
            }
            let types = batch.encodings[index].types
            if planned[name]?.takes(statement.sql, types) != true {
                if planned[name] != nil { commands.append(.deallocate(name: name)) }
                let entry = PreparedStatements.Entry(sql: statement.sql, types: types)
                commands.append(.prepare(name: name, entry, statement: index))
                planned[name] = entry
                fresh.insert(name)
            }
            let wasKept = !fresh.contains(name)
            commands.append(.execute(statement: index, prepared: name, wasKept: wasKept))
        }
        return commands
    }

    /// - Returns: false when libpq could not queue it.
    private func send(_ command: Command, of batch: Batch, on link: Link) -> Bool {
        switch command {
        case .settle(let sql):
            return PQsendQueryParams(link.handle, sql, 0, nil, nil, nil, nil, 1) == 1
        case .deallocateAll:
            return PQsendQueryParams(link.handle, "DEALLOCATE ALL", 0, nil, nil, nil, nil, 1) == 1
        case .deallocate(let name):
            let quoted = name.split(separator: "\"", omittingEmptySubsequences: false)
                .joined(separator: "\"\"")
            let sql = "DEALLOCATE \"\(quoted)\""
            return PQsendQueryParams(link.handle, sql, 0, nil, nil, nil, nil, 1) == 1
        case .prepare(let name, let entry, _):
            return PQsendPrepare(
                link.handle, name, entry.sql, Int32(entry.types.count), entry.types) == 1
        case .execute(let index, let name, _):
            let encoding = batch.encodings[index]
            let format: Int32 = batch.statements[index].givesText ? 0 : 1
            return encoding.withPointers { count, values, lengths, formats in
                if let name {
                    PQsendQueryPrepared(
                        link.handle, name, count, values, lengths, formats, format) == 1
                } else {
                    PQsendQueryParams(
                        link.handle, batch.statements[index].sql, count, encoding.types, values,
                        lengths, formats, format) == 1
                }
            }
        }
    }
}

extension ParameterEncoding {
    /// Count, values, lengths and formats, as libpq takes them.
    fileprivate func withPointers<Value>(
        _ body: (
            Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?
        ) -> Value
    ) -> Value {
        // An empty value still needs a pointer that is not null.
        (bytes + [0]).withUnsafeBytes { buffer in
            let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            let values = offsets.map { offset in
                offset.flatMap { offset in base.map { UnsafePointer($0 + offset) } }
            }
            let formats = [Int32](repeating: 1, count: values.count)
            return values.withUnsafeBufferPointer { values in
                body(Int32(values.count), values.baseAddress, lengths, formats)
            }
        }
    }
}
