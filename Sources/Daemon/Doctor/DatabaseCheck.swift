import Configuration
import Ledger
import Postgres
import Renewal

/// Looks at the database: one question after the other, each of which may fail by itself.
struct DatabaseCheck {
    private let settings: PostgresSettings
    private let notifies: Bool

    init(_ configuration: Settings) {
        settings = PostgresSettings(conninfo: configuration.database.url)
        notifies = configuration.engine.notify
    }

    /// - Returns: whether the schema can be worked with.
    func run(_ tell: (Finding) -> Void) async -> Bool {
        let (examination, outcome, refusal) = await connect()
        var isFit = false
        switch outcome {
        case .failure(let error):
            tell(DatabaseFindings.failed("database", error))
            for subject in ["clock", "schema", "roles", "indexes", "plans", "autovacuum"] {
                tell(.skipped(subject, because: "the database is not available"))
            }
        case .success(let server):
            let findings = DatabaseFindings.server(server, notifies: notifies)
            findings.forEach(tell)
            // What the daemon met, where looking at the server does not explain it.
            if let refusal, !findings.contains(where: { $0.exitReason == .unavailable }) {
                tell(DatabaseFindings.failed("database", refusal))
            }
            await lookAtClock(examination, tell)
            isFit = await lookAtSchema(examination, server, tell)
        }
        await examination.close()
        return isFit
    }

    /// As the daemon does; a server that takes no writes is taken where there is no better one, so
    /// that it can be told apart from none.
    ///
    /// - Returns: the connection, what it showed, and why it is not one that the daemon would take.
    private func connect() async -> (
        DatabaseExamination, Result<ServerState, LedgerError>, refusal: LedgerError?
    ) {
        let first = DatabaseExamination(settings)
        do throws(LedgerError) {
            return (first, .success(try await first.server()), nil)
        } catch .unavailable(let reason, let obstacle) {
            await first.close()
            var settings = settings
            settings.requiresReadWrite = false
            let second = DatabaseExamination(settings)
            do throws(LedgerError) {
                let server = try await second.server()
                return (
                    second, .success(server), .unavailable(reason: reason, obstacle: obstacle)
                )
            } catch {
                return (second, .failure(error), nil)
            }
        } catch {
            return (first, .failure(error), nil)
        }
    }

    private func lookAtClock(
        _ examination: DatabaseExamination, _ tell: (Finding) -> Void
    ) async {
        let began = WallClock.now()
        await ask("clock", tell) { () throws(LedgerError) in
            let told = try await examination.server().now
            let ended = WallClock.now()
            return [ClockCheck.finding("the database", skew: told - (began + (ended - began) / 2))]
        }
    }

    private func lookAtSchema(
        _ examination: DatabaseExamination, _ server: ServerState, _ tell: (Finding) -> Void
    ) async -> Bool {
        var isFit = false
        await ask("schema", tell) { () throws(LedgerError) in
            let version = try await examination.schemaVersion()
            isFit = version != nil && version?.refusal() == nil
            // An older or newer schema has other objects.
            let isOwn = version?.number == Migrator.version
            let missing = isOwn ? try await examination.missingObjects() : []
            return [DatabaseFindings.schema(version, missing: missing)]
        }
        guard isFit else {
            for subject in ["roles", "indexes", "plans", "autovacuum", "transactions"] {
                tell(.skipped(subject, because: "the schema does not fit"))
            }
            return false
        }
        await ask("roles", tell) { () throws(LedgerError) in
            DatabaseFindings.rights(try await examination.rights())
        }
        await ask("indexes", tell) { () throws(LedgerError) in
            DatabaseFindings.indexes(try await examination.indexFaults())
        }
        await ask("plans", tell) { () throws(LedgerError) in
            [DatabaseFindings.plans(try await examination.wholeTableReads())]
        }
        await ask("autovacuum", tell) { () throws(LedgerError) in
            DatabaseFindings.tables(try await examination.tables())
        }
        await ask("transactions", tell) { () throws(LedgerError) in
            DatabaseFindings.holders(
                try await examination.holders(
                    longerThan: DatabaseFindings.longTransaction,
                    transactions: DatabaseFindings.manyTransactions),
                seesAll: server.seesAllSessions)
        }
        return true
    }

    private func ask(
        _ subject: String, _ tell: (Finding) -> Void,
        _ question: () async throws(LedgerError) -> [Finding]
    ) async {
        do throws(LedgerError) {
            try await question().forEach(tell)
        } catch {
            tell(DatabaseFindings.failed(subject, error))
        }
    }
}
