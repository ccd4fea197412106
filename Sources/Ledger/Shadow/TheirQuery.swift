import Postgres
import Renewal

/// What another system answers, over a connection of its own that only reads.
package struct TheirQuery: Sendable {
    private let settings: PostgresSettings
    private let sql: String

    /// Rows that are in memory at once.
    private static let pageLimit = 2000

    /// - Parameters:
    ///   - conninfo: where their database is.
    ///   - sql: the query.
    ///   - limit: how long a part of it may take.
    package init(_ conninfo: String, _ sql: String, within limit: Duration) {
        var settings = PostgresSettings(
            conninfo: conninfo, applicationName: "renewald shadow", statementTimeout: limit,
            requiresReadWrite: false)
        settings.isForeign = true
        settings.idleLimit = limit + TheirQuery.pause
        self.settings = settings
        self.sql = sql
    }

    /// How long what was read may take to be taken in, beyond the limit.
    private static let pause = Duration.minutes(10)

    /// Rows, side by side.
    package struct Page: Sendable {
        private let page: ForeignPage

        fileprivate init(_ page: ForeignPage) { self.page = page }

        package var columns: [String] { page.columns }
        package var count: Int { page.count }

        /// - Parameters:
        ///   - row: from 0 on.
        ///   - column: its place, from 0 on.
        /// - Returns: the value as text; nil is NULL.
        package func value(_ row: Int, _ column: Int) -> [UInt8]? { page.value(row, column) }
    }

    /// Runs the query once, and nothing else: what it writes is refused or taken back.
    ///
    /// - Parameter take: gets the rows, page by page; at least one page, which names the columns.
    /// - Throws: `TheirError`, and what `take` throws.
    package func read(_ take: @escaping @Sendable (Page) async throws -> Void) async throws {
        let connection = PostgresConnection(settings)
        do {
            try await connection.read(sql, pageLimit: Self.pageLimit) { page in
                do {
                    try await take(Page(page))
                } catch {
                    throw TakeFailure(cause: error)
                }
            }
        } catch let failure as TakeFailure {
            await connection.close()
            throw failure.cause
        } catch let error as PostgresError {
            await connection.close()
            throw TheirError(error)
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    /// Told apart from what their database says.
    private struct TakeFailure: Error {
        let cause: any Error
    }
}

/// Why their query gives nothing.
package enum TheirError: Error, Hashable, Sendable {
    case unavailable(reason: String)
    /// A part of it took longer than allowed.
    case tooSlow
    /// A right is missing. `message` is the server's, and names the object.
    case forbidden(message: String)
    /// It wants to write.
    case writes
    /// It is no query, or names what is not there. `message` is the server's.
    case refused(sqlState: String, message: String)

    init(_ error: PostgresError) {
        self =
            switch error {
            case .rejected(.insufficientPrivilege, let message, _): .forbidden(message: message)
            case .rejected(.readOnlyTransaction, _, _): .writes
            case .rejected(let state, let message, _):
                .refused(sqlState: state.rawValue, message: message)
            case .overloaded(.queryCanceled): .tooSlow
            case .unreachable, .commitUnknown, .conflict, .overloaded, .decoding, .cancelled:
                switch LedgerError(error) {
                case .unavailable(let reason, _): .unavailable(reason: reason)
                default: .unavailable(reason: "cancelled")
                }
            }
    }
}
