import Postgres

/// What went wrong with the database, by what the caller must do next.
package enum LedgerError: Error, Hashable, Sendable {
    /// Not there, or overloaded: wait and try again. Nothing is lost.
    case unavailable(reason: String)
    /// There is no schema: run `renewald migrate`.
    case schemaMissing
    /// The schema is of another version than this program needs.
    case schemaVersion(found: Int, needed: Int)
    /// The user that renewald connects as lacks a right. `message` is the server's.
    case forbidden(message: String, work: Work)
    /// The database refuses a statement: a fault of ours or of the schema.
    case refused(sqlState: String, message: String)

    /// What the rights are needed for.
    package enum Work: Hashable, Sendable { case migration, daily }

    init(_ error: PostgresError, during work: Work = .daily) {
        self =
            switch error {
            case .unreachable(let reason): .unavailable(reason: reason)
            case .commitUnknown: .unavailable(reason: "the connection was lost during a commit")
            case .conflict(let state), .overloaded(let state):
                .unavailable(reason: "\(Self.trouble(state)) (SQLSTATE \(state))")
            case .rejected(sqlState: "3F000", _, _), .rejected(sqlState: "42P01", _, _):
                .schemaMissing
            case .rejected(sqlState: "42501", let message, _):
                .forbidden(message: message, work: work)
            case .rejected(let state, let message, _):
                .refused(sqlState: state, message: message)
            case .decoding(let column):
                .refused(sqlState: "", message: "column \(column) is not of the expected type")
            case .cancelled: .unavailable(reason: "cancelled")
            }
    }

    /// What keeps the database from doing what it was asked to do now.
    private static func trouble(_ sqlState: String) -> String {
        switch sqlState {
        case "53100": "its disk is full"
        case "53200": "it is out of memory"
        case "53300": "it takes no more connections"
        case "55P03": "another session holds a lock"
        case "57014": "a statement took too long"
        case "40001", "40P01": "other transactions are in the way"
        default: "it is overloaded"
        }
    }

    /// What an operator is told.
    package var sentence: String {
        switch self {
        case .unavailable(let reason):
            "the database is not available: \(reason)"
        case .schemaMissing:
            "the database has no renewald schema: run `renewald migrate`"
        case .schemaVersion(let found, let needed) where found < needed:
            "the database's schema is version \(found), this program needs \(needed): "
                + "run `renewald migrate`"
        case .schemaVersion(let found, let needed):
            "the database's schema is version \(found), newer than the \(needed) of this program: "
                + "install the newer renewald"
        case .forbidden(let message, .migration):
            "the database refuses: \(message): migrate as the owner of the database or as a "
                + "superuser, such as `sudo -u postgres renewald migrate --database "
                + "postgresql:///NAME`, or let the user do it: "
                + "GRANT CREATE ON DATABASE name TO user"
        case .forbidden(let message, .daily):
            "the database refuses: \(message): the user needs the rights of renewald_worker: "
                + "GRANT renewald_worker TO user"
        case .refused(let state, let message):
            "the database refuses: \(message) (SQLSTATE \(state))"
        }
    }
}
