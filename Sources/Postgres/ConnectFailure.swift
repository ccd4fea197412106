import CPostgres

/// Why connecting failed, in fixed phrases: libpq's own words hold host, user and file names, and
/// are only searched.
struct ConnectFailure {
    let error: PostgresError

    /// - Parameter handle: a connection whose attempt has failed.
    init(_ handle: OpaquePointer) {
        let message = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        if let code = Self.code(in: message) {
            error = Self.refusal(code)
        } else if message.contains("read-only") || message.contains("hot standby") {
            let isStandby =
                PQparameterStatus(handle, "in_hot_standby").map { String(cString: $0) } == "on"
            error = .unreachable(
                reason: isStandby
                    ? "the server is a standby, which takes no writes"
                    : "the server takes no writes: default_transaction_read_only is on")
        } else {
            let known = Self.phrases.first { message.contains($0.words) }
            error = .unreachable(reason: known?.reason ?? "no connection to the server")
        }
    }

    /// The error of hosts each of which has failed: at least one, in their order.
    static func all(_ failures: [PostgresError]) -> PostgresError {
        var reasons: [String] = []
        for (index, failure) in failures.enumerated() {
            guard case .unreachable(let reason) = failure else { return failure }
            reasons.append("host \(index + 1): \(reason)")
        }
        guard failures.count != 1 else { return failures[0] }
        return .unreachable(reason: reasons.joined(separator: "; "))
    }

    /// The server's code, in which libpq's message ends at the verbosity that we ask for.
    private static func code(in message: String) -> String? {
        let code = message.split { $0.isWhitespace }.last.map(String.init) ?? ""
        let isCode =
            code.utf8.count == 5 && code.contains(where: \.isNumber)
            && code.allSatisfy { $0.isNumber || ($0.isUppercase && $0.isASCII) }
        return isCode ? code : nil
    }

    private static func refusal(_ code: String) -> PostgresError {
        if code.hasPrefix("53") { return .overloaded(sqlState: code) }
        let meaning =
            switch code {
            case "28P01": ": the password is wrong"
            case "28000": ": pg_hba.conf does not let this user in"
            case "3D000": ": there is no such database"
            case "42501": ": the user may not connect to this database"
            case "57P03": ": it is starting, stopping or recovering"
            default: ""
            }
        return .unreachable(reason: "the server refused the connection, SQLSTATE \(code)\(meaning)")
    }

    /// Words of libpq, of OpenSSL and of the C library, and what they mean. The first that is found
    /// counts.
    private static let phrases: [(words: String, reason: String)] = [
        ("does not match host name", "the server's certificate is for another host name"),
        ("root certificate file", "the file of sslrootcert is missing or cannot be read"),
        (
            "certificate verify failed",
            "the server's certificate is not by an authority of sslrootcert, or has expired"
        ),
        ("server does not support SSL", "the server does not offer TLS, which sslmode demands"),
        ("private key", "the client's certificate or key cannot be used (sslcert, sslkey)"),
        ("certificate file", "the client's certificate or key cannot be used (sslcert, sslkey)"),
        (" alert ", "the server does not accept our side of TLS, such as the client's certificate"),
        ("SSL", "TLS with the server failed"),
        ("no password supplied", "the server asks for a password and there is none"),
        ("password retrieved from file", "the password is wrong"),
        ("could not translate host name", "the host name cannot be resolved"),
        ("Connection refused", "the connection is refused: no server listens there"),
        ("No such file or directory", "no server listens on the socket"),
        ("No route to host", "there is no way to the host"),
        ("Network is unreachable", "there is no way to the host"),
        ("timed out", "no answer to connecting"),
        ("timeout expired", "no answer to connecting"),
        ("Permission denied", "the socket may not be used by this user"),
        ("closed the connection", "the server closed the connection while connecting"),
        ("Connection reset", "the server closed the connection while connecting"),
    ]
}
