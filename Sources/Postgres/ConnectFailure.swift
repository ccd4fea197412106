import CPostgres

/// Why connecting failed, in fixed phrases: the words of libpq and the server hold host, user and
/// file names, and are only searched.
struct ConnectFailure {
    let error: PostgresError

    /// - Parameter handle: a connection whose attempt has failed.
    init(_ handle: OpaquePointer) {
        let message = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        if let code = Self.code(in: message) {
            error = Self.refusal(code, in: message)
        } else if message.contains("read-only") || message.contains("hot standby") {
            let isStandby =
                PQparameterStatus(handle, "in_hot_standby").map { String(cString: $0) } == "on"
            error = isStandby ? Self.standby : Self.readOnly
        } else {
            let known = Self.phrases.first { message.contains($0.words) }
            error = .unreachable(
                reason: known?.reason ?? "no connection to the server",
                obstacle: Self.obstacles.first { message.contains($0.words) }?.obstacle)
        }
    }

    private static let standby = PostgresError.unreachable(
        reason: "the server is a standby, which takes no writes")
    private static let readOnly = PostgresError.unreachable(
        reason: "the server takes no writes: default_transaction_read_only is on")

    /// Whether the server was there, and could be read.
    static func isForWantOfWrites(_ error: PostgresError) -> Bool {
        error == standby || error == readOnly
    }

    /// The error of hosts each of which has failed: at least one, in their order.
    static func all(_ failures: [PostgresError]) -> PostgresError {
        var reasons: [String] = []
        var obstacle: PostgresError.Obstacle?
        for (index, failure) in failures.enumerated() {
            guard case .unreachable(let reason, let found) = failure else { return failure }
            reasons.append("host \(index + 1): \(reason)")
            obstacle = obstacle ?? found
        }
        guard failures.count != 1 else { return failures[0] }
        return .unreachable(reason: reasons.joined(separator: "; "), obstacle: obstacle)
    }

    /// The server's code: the first word that looks like one and has a colon behind it.
    private static func code(in message: String) -> SQLState? {
        let words = message.split { $0.isWhitespace }
        let code = words.first { word in
            let code = word.dropLast()
            return word.last == ":" && code.utf8.count == 5 && code.contains(where: \.isNumber)
                && code.allSatisfy { $0.isNumber || ($0.isUppercase && $0.isASCII) }
        }
        return code.map { SQLState(rawValue: String($0.dropLast())) }
    }

    private static func refusal(_ code: SQLState, in message: String) -> PostgresError {
        if code.isShortage { return .overloaded(sqlState: code) }
        let (meaning, obstacle): (String?, PostgresError.Obstacle?) =
            switch code {
            case .wrongPassword: ("the password is wrong, or there is no such role", .wrongPassword)
            case .notAdmitted: admission(message)
            case .databaseMissing: ("there is no such database", .databaseMissing)
            case .insufficientPrivilege: ("the user may not connect to this database", nil)
            case .cannotConnectNow: ("it is starting, stopping or recovering", .notReady)
            default: (nil, nil)
            }
        return .unreachable(
            reason: "the server refused the connection, SQLSTATE \(code)"
                + (meaning.map { ": \($0)" } ?? ""), obstacle: obstacle)
    }

    /// Why the server does not accept the user. Other languages than English keep the name of the
    /// file and the server's function, so that each answer is right where it is not the best.
    private static func admission(_ message: String) -> (String, PostgresError.Obstacle) {
        // What stands in quotes is the name of a user or a database.
        let parts = message.split(separator: "\"", omittingEmptySubsequences: false)
        let words = stride(from: 0, to: parts.count, by: 2).map { parts[$0] }.joined().lowercased()
        if words.contains("pg_hba.conf") {
            return ("pg_hba.conf does not admit this user", .notAdmitted)
        }
        if words.contains("peer") || words.contains("ident ") {
            return (
                "the operating system's user is not the requested role (peer or ident)",
                .otherSystemUser
            )
        }
        if words.contains("not permitted to log in") {
            return ("this role may not log in", .roleMayNotLogIn)
        }
        if words.contains("does not exist") { return ("the role does not exist", .roleMissing) }
        if words.contains("initializesessionuserid") {
            return ("the role does not exist, or it may not log in", .roleMissing)
        }
        if words.contains("certificate") {
            return ("the client's certificate is missing or is not this user's", .notAdmitted)
        }
        return ("pg_hba.conf does not admit this user, or not in this way", .notAdmitted)
    }

    /// Words of libpq for what a person can mend.
    private static let obstacles: [(words: String, obstacle: PostgresError.Obstacle)] = [
        ("no password supplied", .passwordMissing),
        ("password retrieved from file", .wrongPassword),
    ]

    /// Words of libpq, of OpenSSL and of the C library, and what they mean. The first that is found
    /// counts.
    private static let phrases: [(words: String, reason: String)] = [
        ("does not match host name", "the server's certificate is for another host name"),
        ("root certificate file", "the file of sslrootcert is missing or cannot be read"),
        (
            "certificate verify failed",
            "the server's certificate has expired, or no authority in sslrootcert signed it"
        ),
        ("server does not support SSL", "sslmode demands TLS, and the server does not offer it"),
        ("private key", "the client's certificate or key cannot be used (sslcert, sslkey)"),
        ("certificate file", "the client's certificate or key cannot be used (sslcert, sslkey)"),
        (" alert ", "the server rejects our side of TLS, such as the client's certificate"),
        ("SSL", "TLS with the server failed"),
        ("no password supplied", "the server asks for a password, and none is configured"),
        ("password retrieved from file", "the password is wrong"),
        ("could not translate host name", "the host name cannot be resolved"),
        ("Connection refused", "the connection is refused: no server listens there"),
        ("No such file or directory", "no server listens on the socket"),
        ("No route to host", "no route to the host"),
        ("Network is unreachable", "no route to the host"),
        ("timed out", "no answer to the connection attempt"),
        ("timeout expired", "no answer to the connection attempt"),
        ("Permission denied", "this user may not use the socket"),
        ("closed the connection", "the server closed the connection while connecting"),
        ("Connection reset", "the server closed the connection while connecting"),
    ]
}
