/// How to connect, and the limits of each call.
package struct PostgresSettings: Sendable {
    /// Any libpq connection string: `host=/run/postgresql dbname=app`, a URI, `service=…`, several
    /// hosts; what it leaves out comes from the `PG…` variables. May hold a password.
    package var conninfo: String
    /// Shown in `pg_stat_activity`, unless `conninfo` names another.
    package var applicationName: String
    /// For each host that is tried.
    package var connectTimeout: Duration
    /// The server's limit for one statement. A call gives up, and drops the connection, when it has
    /// had no answer for this long and `answerMargin`.
    package var statementTimeout: Duration
    /// Only a server that takes writes will do: after a fail-over the next host is tried. A
    /// `target_session_attrs` in `conninfo` or the environment comes first.
    package var requiresReadWrite: Bool
    /// With `requiresReadWrite`: where no server takes writes, one that does not will do. For who
    /// only reads.
    package var makesDoWithReadOnly = false
    /// It is for statements of somebody else's: they find names and are planned as the server, the
    /// database and the role have it, and what they may not write is no loss of the connection.
    package var isForeign = false
    /// The server ends a transaction that does nothing for this long.
    package var idleLimit = Duration.seconds(10)
    /// How long a statement waits for a lock of another session.
    package var lockLimit = Duration.seconds(2)

    /// Beyond the server's limit, for the network and a busy machine.
    static let answerMargin: Duration = .seconds(5)

    /// Each parameter is as the property of its name; an empty `conninfo` is the environment alone.
    package init(
        conninfo: String, applicationName: String = "renewald",
        connectTimeout: Duration = .seconds(5), statementTimeout: Duration = .seconds(5),
        requiresReadWrite: Bool = true
    ) {
        self.conninfo = conninfo
        self.applicationName = applicationName
        self.connectTimeout = connectTimeout
        self.statementTimeout = statementTimeout
        self.requiresReadWrite = requiresReadWrite
    }
}

extension PostgresSettings: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Shows nothing of `conninfo`.
    package var description: String {
        "PostgresSettings(\(applicationName), statementTimeout: \(statementTimeout))"
    }

    package var debugDescription: String { description }

    /// Shows nothing of `conninfo` to `dump` either.
    package var customMirror: Mirror {
        Mirror(self, children: ["applicationName": applicationName])
    }
}
