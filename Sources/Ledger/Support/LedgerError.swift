import Postgres
import Renewal

extension LedgerError {
    init(_ error: PostgresError, during work: Work = .daily) {
        self =
            switch error {
            case .unreachable(let reason, let obstacle):
                .unavailable(reason: reason, obstacle: obstacle.map(Obstacle.init))
            case .commitUnknown: .unavailable(reason: "the connection was lost during a commit")
            case .conflict(let state), .overloaded(let state):
                .unavailable(
                    reason: "\(Self.trouble(state)) (SQLSTATE \(state))",
                    obstacle: Self.obstacles[state])
            case .rejected(.noLongerValid, let what, _):
                .noLongerValid(what: what)
            case .rejected(.eventsLost, let message, _):
                .eventsLost(message: message)
            case .rejected(.schemaMissing, _, _):
                .schemaMissing
            case .rejected(.insufficientPrivilege, let message, _):
                .forbidden(message: message, work: work)
            case .rejected(let state, let message, _) where state.isOfSchema:
                .schemaDiffers(sqlState: state.rawValue, message: message)
            case .rejected(let state, let message, _):
                .refused(sqlState: state.rawValue, message: message)
            case .decoding(let column):
                .undecodable(what: "column \(column) is not of the expected type")
            case .cancelled: .cancelled
            }
    }

    private static let obstacles: [SQLState: Obstacle] = [
        .tooManyConnections: .tooManyConnections, .lockNotAvailable: .locked,
    ]

    /// What keeps the database from doing what it was asked to do now.
    private static func trouble(_ sqlState: SQLState) -> String {
        switch sqlState {
        case .diskFull: "its disk is full"
        case .outOfMemory: "it is out of memory"
        case .tooManyConnections: "it takes no more connections"
        case .lockNotAvailable: "another session holds a lock"
        case .queryCanceled: "a statement took too long"
        case .serializationFailure, .deadlock: "other transactions are in the way"
        default: "it is overloaded"
        }
    }
}

extension LedgerError.Obstacle {
    fileprivate init(_ obstacle: PostgresError.Obstacle) {
        self =
            switch obstacle {
            case .passwordMissing: .passwordMissing
            case .wrongPassword: .wrongPassword
            case .roleMissing: .roleMissing
            case .roleMayNotLogIn: .roleMayNotLogIn
            case .databaseMissing: .databaseMissing
            case .otherSystemUser: .otherSystemUser
            case .notAdmitted: .notAdmitted
            case .notReady: .notReady
            }
    }
}

/// Runs a piece of work on the database and gives its faults their ledger names.
func attempt<Value>(_ work: () async throws -> Value) async throws(LedgerError) -> Value {
    do {
        return try await work()
    } catch let error as LedgerError {
        throw error
    } catch let error as PostgresError {
        throw LedgerError(error)
    } catch {
        throw .cancelled
    }
}
