import Postgres
import Renewal

extension LedgerError {
    init(_ error: PostgresError, during work: Work = .daily) {
        self =
            switch error {
            case .unreachable(let reason): .unavailable(reason: reason)
            case .commitUnknown: .unavailable(reason: "the connection was lost during a commit")
            case .conflict(let state), .overloaded(let state):
                .unavailable(reason: "\(Self.trouble(state)) (SQLSTATE \(state))")
            case .rejected(sqlState: "3F000", _, _):
                .schemaMissing
            case .rejected(sqlState: "42501", let message, _):
                .forbidden(message: message, work: work)
            case .rejected(let state, let message, _) where state.hasPrefix("42"):
                // Class 42 is what a statement names and the schema does not have.
                .schemaDiffers(sqlState: state, message: message)
            case .rejected(let state, let message, _):
                .refused(sqlState: state, message: message)
            case .decoding(let column):
                .refused(sqlState: "", message: "column \(column) is not of the expected type")
            case .cancelled: .cancelled
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
}
