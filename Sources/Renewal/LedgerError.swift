/// What went wrong with the ledger, by what must be done next. The ledger throws it; the engine,
/// the commands and doctor see the same.
package enum LedgerError: Error, Hashable, Sendable {
    /// Not there, or overloaded: wait and try again. Nothing is lost. The obstacle is what a person
    /// can mend.
    case unavailable(reason: String, obstacle: Obstacle? = nil)
    /// What was read does not hold any more, such as a lease or a version: another was faster.
    /// Nothing was written. `what` is the database's message, and names it.
    case noLongerValid(what: String)
    /// The work was cancelled, or the connection closed by its owner. It says nothing of the
    /// database.
    case cancelled
    /// There is no schema: run `renewald migrate`.
    case schemaMissing
    /// The schema is to be spread by Citus, which the database does not have.
    case citusMissing
    /// The database cannot hold all text that stores and users write. `name` is its encoding.
    case encoding(name: String)
    /// The schema is older than the oldest that this program works with, or newer than this program
    /// and made for later ones.
    case schemaVersion(found: Int, needed: Int)
    /// A table, column or function is not there, or not of the kind that this program needs.
    /// `message` is the server's and names it.
    case schemaDiffers(sqlState: String, message: String)
    /// The user that renewald connects as lacks a right. `message` is the server's and names the
    /// object.
    case forbidden(message: String, work: Work)
    /// The database refuses a statement: a fault of ours or of the schema.
    case refused(sqlState: String, message: String)
    /// A row holds what this program cannot read, or lacks what may not be missing.
    case undecodable(what: String)
    /// A row of a user cannot be read, so that nothing can be decided of what they hold.
    case unreadableUser
    /// Events are to be read after one that this database does not have. `message` is the
    /// database's and has both numbers.
    case eventsLost(message: String)

    /// Something is encrypted with keys that are not configured. `names` are what they are known
    /// by.
    case keysMissing(names: [String])

    /// What the rights are needed for.
    package enum Work: Hashable, Sendable { case migration, daily }

    /// Why the server does not let us in.
    package enum Obstacle: Hashable, Sendable, CaseIterable {
        /// None is configured, and the server asks for one.
        case passwordMissing
        case wrongPassword, roleMissing, roleMayNotLogIn, databaseMissing
        /// The operating system's user is not the role that is asked for.
        case otherSystemUser
        /// By pg_hba.conf, or for a certificate.
        case notAdmitted
        /// It is starting, stopping or recovering.
        case notReady
        case tooManyConnections
        /// By another session.
        case locked
    }
}

extension LedgerError {
    /// Whether it stays until a person mends something: waiting alone is of no use.
    package var isLasting: Bool {
        switch self {
        case .unavailable, .noLongerValid, .cancelled: false
        case .schemaMissing, .citusMissing, .encoding, .schemaVersion, .schemaDiffers, .forbidden,
            .refused, .undecodable, .unreadableUser, .eventsLost, .keysMissing:
            true
        }
    }

    /// Whether this program does not fit the schema, whatever it asks for.
    package var isOfSchema: Bool {
        switch self {
        case .schemaMissing, .schemaVersion: true
        case .unavailable, .noLongerValid, .cancelled, .citusMissing, .encoding, .schemaDiffers,
            .forbidden, .refused, .undecodable, .unreadableUser, .eventsLost, .keysMissing:
            false
        }
    }

    /// What an operator is told.
    package var sentence: String {
        switch self {
        case .unavailable(let reason, _):
            "the database is not available: \(reason)"
        case .noLongerValid(let what):
            "another session was faster: \(what)"
        case .cancelled:
            "interrupted"
        case .schemaMissing:
            "the database has no renewald schema: run `renewald migrate`"
        case .citusMissing:
            "the database has no extension citus: CREATE EXTENSION citus on the coordinator and on "
                + "each worker, and tell the coordinator of them with citus_add_node"
        case .encoding(let name):
            "the database's encoding is \(name), and stores and users write what has no place in "
                + "it: give renewald one of UTF8: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE "
                + "template0"
        case .schemaVersion(let found, let needed) where found < needed:
            "the database's schema is version \(found), this program needs \(needed) or newer: "
                + "run `renewald migrate`"
        case .schemaVersion(let found, let needed):
            "the database's schema is version \(found), newer than the \(needed) of this program, "
                + "which it does not serve: install the newer renewald"
        case .schemaDiffers(let state, let message):
            "the database's schema is not as this program needs it: \(message) "
                + "(SQLSTATE \(state)): undo what was changed by hand, or restore the schema; no "
                + "migration brings it back"
        case .forbidden(let message, .migration):
            "the database refuses: \(message): migrate as the owner of the database or as a "
                + "superuser, such as `sudo -u postgres renewald migrate --database "
                + "postgresql:///NAME`, or let the user do it: "
                + "GRANT CREATE ON DATABASE name TO user"
        case .forbidden(let message, .daily):
            "the database refuses: \(message): the user needs the privileges of renewald_worker: "
                + "GRANT renewald_worker TO user"
        case .refused(let state, let message):
            "the database refuses: \(message) (SQLSTATE \(state))"
        case .undecodable(let what):
            "a row of the database cannot be read: \(what)"
        case .unreadableUser:
            "a row of a user cannot be read"
        case .keysMissing(let names):
            "tokens in the database are encrypted with \(names.joined(separator: ", ")), which is "
                + "not here: name the key in [encryption] keys, or bring its file back"
        case .eventsLost(let message):
            "\(message). After a restore, or when a standby that was behind has taken over, raise "
                + "renewald.event_counter.last_id to the greatest cursor of all consumers, and let "
                + "them go back to the last event from before where renewald has run since, as "
                + "docs/upgrading.md says; otherwise give the id of an event that was read"
        }
    }
}
