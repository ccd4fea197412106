/// A code by which PostgreSQL says what went wrong. All those that the program knows stand here, by
/// name, and nowhere else.
///
/// https://www.postgresql.org/docs/current/errcodes-appendix.html
package struct SQLState: RawRepresentable, Hashable, Sendable {
    /// Five digits or capital letters; the first two are the class.
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    private init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}

extension SQLState: CustomStringConvertible {
    package var description: String { rawValue }
}

// MARK: - Ours

extension SQLState {
    /// Raised by `renewald.require`, which says what does not hold any more.
    package static let noLongerValid = SQLState("RN001")
    /// Raised by `renewald.events_after` for a cursor beyond the newest event.
    package static let eventsLost = SQLState("RN002")
}

// MARK: - The connection

extension SQLState {
    package static let connectionFailure = SQLState("08006")
    /// There is no such role, or nothing lets it in.
    package static let notAdmitted = SQLState("28000")
    package static let wrongPassword = SQLState("28P01")
    package static let databaseMissing = SQLState("3D000")
    package static let adminShutdown = SQLState("57P01")
    package static let crashShutdown = SQLState("57P02")
    /// The server is starting, stopping or recovering.
    package static let cannotConnectNow = SQLState("57P03")
    package static let databaseDropped = SQLState("57P04")
    package static let idleSessionTimeout = SQLState("57P05")
    package static let idleTransactionTimeout = SQLState("25P03")
    package static let transactionTimeout = SQLState("25P04")
    /// Also what a primary says that has become a standby.
    package static let readOnlyTransaction = SQLState("25006")

    /// After these a connection is of no more use.
    var endsConnection: Bool {
        switch self {
        case .adminShutdown, .crashShutdown, .cannotConnectNow, .databaseDropped,
            .idleSessionTimeout, .idleTransactionTimeout, .transactionTimeout,
            .readOnlyTransaction:
            true
        default: isOfClass("08")
        }
    }
}

// MARK: - Others in the way, and too little of something

extension SQLState {
    package static let serializationFailure = SQLState("40001")
    package static let deadlock = SQLState("40P01")
    package static let completionUnknown = SQLState("40003")
    package static let lockNotAvailable = SQLState("55P03")
    package static let diskFull = SQLState("53100")
    package static let outOfMemory = SQLState("53200")
    package static let tooManyConnections = SQLState("53300")
    /// The statement ran into its limit, or was cancelled.
    package static let queryCanceled = SQLState("57014")

    var isConflict: Bool {
        switch self {
        case .serializationFailure, .deadlock, .lockNotAvailable: true
        default: false
        }
    }

    package var isShortage: Bool { isOfClass("53") }
}

// MARK: - What the server refuses

extension SQLState {
    package static let featureNotSupported = SQLState("0A000")
    package static let unknownPreparedStatement = SQLState("26000")
    package static let failedTransaction = SQLState("25P02")
    package static let schemaMissing = SQLState("3F000")
    package static let insufficientPrivilege = SQLState("42501")
    package static let syntaxError = SQLState("42601")
    package static let invalidText = SQLState("22021")
    package static let timeOutOfRange = SQLState("22008")
    package static let invalidParameter = SQLState("22023")
    package static let limitExceeded = SQLState("54000")

    /// A statement names what the schema does not have.
    package var isOfSchema: Bool { isOfClass("42") && self != .insufficientPrivilege }

    /// The value of a parameter does not fit.
    package var isDataException: Bool { isOfClass("22") }

    /// Data exceptions, violated constraints, limits of the server: a row is at fault, not the
    /// database.
    package var isOfContent: Bool { isDataException || isOfClass("23") || isOfClass("54") }

    private func isOfClass(_ digits: String) -> Bool { rawValue.hasPrefix(digits) }
}
