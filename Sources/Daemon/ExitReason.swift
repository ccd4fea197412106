package import Renewal

/// How a command ends: the values of sysexits(3).
package enum ExitReason: Int32, Error, Hashable, Sendable {
    case done = 0
    case usage = 64
    /// What was given does not fit what is there.
    case dataError = 65
    /// `--require` and no such user or order, or a file that cannot be read.
    case noInput = 66
    /// The database is not there.
    case unavailable = 69
    case software = 70
    /// A file that was asked for cannot be written.
    case cannotCreate = 73
    /// What was printed did not arrive.
    case outputFailed = 74
    /// Some purchases could not be checked: try again.
    case temporary = 75
    case permission = 77
    case configuration = 78
}

extension LedgerError {
    package var exitReason: ExitReason {
        switch self {
        case .unavailable, .noLongerValid, .cancelled: .unavailable
        case .schemaMissing, .citusMissing, .encoding, .schemaVersion, .schemaDiffers, .keysMissing:
            .configuration
        case .forbidden: .permission
        case .refused, .undecodable, .unreadableUser: .software
        case .eventsLost: .dataError
        }
    }
}
