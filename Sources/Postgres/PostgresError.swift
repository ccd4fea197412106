/// What went wrong with the database, by what the caller must do next.
///
/// No case holds a connection string, a host, a password or the value of a parameter.
package enum PostgresError: Error, Hashable, Sendable {
    /// Not connected, or the connection was lost and nothing was committed. Connect again, later.
    /// The reason is a fixed phrase, with the SQLSTATE where there is one; the obstacle is what a
    /// person can mend.
    case unreachable(reason: String, obstacle: Obstacle? = nil)
    /// The connection was lost after the end of a writing transaction was sent and before its
    /// answer came. Read back what is there before writing again.
    case commitUnknown
    /// Another transaction was in the way (40001, 40P01, 55P03). Nothing was committed; the whole
    /// transaction may be tried again.
    case conflict(sqlState: SQLState)
    /// The server is short of something, or the statement ran into its limit (class 53, 57014).
    /// Slow down.
    case overloaded(sqlState: SQLState)
    /// The server refused the statement. `message` is its primary message, without detail and hint;
    /// `statement` is the index in the pipeline.
    case rejected(sqlState: SQLState, message: String, statement: Int)
    /// A column is missing, is null, or is not of the type that was asked for.
    case decoding(column: String)
    /// The call was cancelled or the connection closed by its owner. Nothing was committed.
    case cancelled

    /// Why the server does not let us in.
    package enum Obstacle: Hashable, Sendable {
        /// None is configured, and the server asks for one.
        case passwordMissing
        case wrongPassword, roleMissing, roleMayNotLogIn, databaseMissing
        /// The operating system's user is not the role that is asked for.
        case otherSystemUser
        /// By pg_hba.conf, or for a certificate.
        case notAdmitted
        /// It is starting, stopping or recovering.
        case notReady
    }
}

extension PostgresError {
    /// The five-character code of the server, where it gave one that decides the case.
    package var sqlState: SQLState? {
        switch self {
        case .conflict(let sqlState), .overloaded(let sqlState), .rejected(let sqlState, _, _):
            sqlState
        case .unreachable, .commitUnknown, .decoding, .cancelled:
            nil
        }
    }
}

/// One error report of the server.
struct ServerReport {
    var sqlState: SQLState
    var message: String
    /// FATAL or PANIC: the server ends the connection after it.
    var endsConnection: Bool
    /// False for what libpq itself reports, such as a broken connection.
    var isFromServer: Bool
}

extension ServerReport {
    /// Reports after which this connection is of no more use, whatever their severity: connection
    /// exceptions, shutdown, and a server that has become read-only after a fail-over.
    var isLoss: Bool {
        endsConnection || sqlState.endsConnection
    }

    /// The report as an error of the statement at `statement`. The SQLSTATE decides, not the text.
    ///
    /// - Parameters:
    ///   - statement: the index in the pipeline.
    ///   - wasAsked: whether we asked the server to cancel this statement.
    /// - Returns: the case that says what the caller must do next.
    func error(statement: Int, cancelWasAsked wasAsked: Bool = false) -> PostgresError {
        switch sqlState {
        case .completionUnknown:
            .commitUnknown
        case .queryCanceled:
            wasAsked ? .cancelled : .overloaded(sqlState: sqlState)
        default:
            if sqlState.isConflict {
                .conflict(sqlState: sqlState)
            } else if sqlState.isShortage {
                .overloaded(sqlState: sqlState)
            } else if isLoss {
                .unreachable(reason: "the server ended the connection, SQLSTATE \(sqlState)")
            } else {
                .rejected(sqlState: sqlState, message: publishableMessage, statement: statement)
            }
        }
    }

    /// Messages of class 22 quote the value that did not fit; what stands in quotes is left out.
    private var publishableMessage: String {
        guard sqlState.isDataException, sqlState != .invalidParameter else { return message }
        guard let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\"")
        else { return message }
        return message[..<first] + "\"…\"" + message[last...].dropFirst()
    }
}
