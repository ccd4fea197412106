import Ledger

/// Why nothing was compared. Each says what to do.
package enum ShadowStop: Error, Hashable, Sendable {
    /// The query is none that can be run.
    case usage(String)
    /// What it gives cannot be compared.
    case data(String)
    case unreadable(String)
    case unavailable(String)
    case forbidden(String)

    package var reason: String {
        switch self {
        case .usage(let reason), .data(let reason), .unreadable(let reason),
            .unavailable(let reason), .forbidden(let reason):
            reason
        }
    }

    package var exitReason: ExitReason {
        switch self {
        case .usage: .usage
        case .data: .dataError
        case .unreadable: .noInput
        case .unavailable: .unavailable
        case .forbidden: .permission
        }
    }

    /// - Parameters:
    ///   - error: what their database has said.
    ///   - isOwn: it is renewald's own.
    init(_ error: TheirError, isOwn: Bool) {
        let whose =
            isOwn
            ? "renewald's own database" : "the database of --theirs-database"
        switch error {
        case .unavailable(let reason):
            self = .unavailable("\(whose) is not available: \(reason)")
        case .tooSlow:
            self = .unavailable(
                "\(whose) took longer than --timeout allows for a part of the query: "
                    + "give it more, or make the query cheaper")
        case .forbidden(let message):
            self = .forbidden(
                "\(whose) refuses the query: \(message): GRANT SELECT on it to the user of the "
                    + "connection, or give another one with --theirs-database")
        case .writes:
            self = .usage(
                "\(whose) refuses the query: it writes, and it may only read; nothing was changed")
        case .refused(let state, let message):
            let sentence = "\(whose) refuses the query: \(message) (SQLSTATE \(state))"
            self =
                state.hasPrefix("22")
                ? .data(sentence)
                : .usage(
                    sentence + ": --theirs is one SELECT that gives user_id, entitlement, "
                        + "active and, if you like, expires_at")
        }
    }
}
