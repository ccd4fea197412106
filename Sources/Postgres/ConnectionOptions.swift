import CPostgres
import Glibc

/// The options of a connection string, and what we add where the user has set nothing.
///
/// See https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-PARAMKEYWORDS.
struct ConnectionOptions {
    /// One list of options for each host, to be tried in this order.
    let attempts: [[(keyword: String, value: String)]]

    /// - Throws: `.unreachable` when libpq cannot read the connection string.
    init(_ settings: PostgresSettings) throws(PostgresError) {
        guard !settings.conninfo.utf8.contains(0), Self.isReadable(settings.conninfo) else {
            throw .unreachable(reason: "the connection string cannot be read")
        }
        let chosen = Self.chosen(in: settings.conninfo)
        let seconds = max(2, settings.connectTimeout.components.seconds)
        var options = [
            (keyword: "fallback_application_name", value: settings.applicationName),
            (keyword: "connect_timeout", value: String(seconds)),
            (keyword: "keepalives_idle", value: "30"),
            (keyword: "tcp_user_timeout", value: "10000"),
        ]
        if settings.requiresReadWrite {
            options.append((keyword: "target_session_attrs", value: "read-write"))
        }
        options.removeAll { chosen[$0.keyword] != nil }
        // Later ones win, so that the user's own come after ours and before the single host.
        options.append((keyword: "dbname", value: settings.conninfo))
        // Told at the start of the session: a pooler carries it along, as it does not what is SET.
        options.append((keyword: "client_encoding", value: "UTF8"))
        attempts = Self.hosts(in: chosen).map { options + $0 }
    }

    private static func isReadable(_ conninfo: String) -> Bool {
        let parsed = PQconninfoParse(conninfo, nil)
        defer { PQconninfoFree(parsed) }
        return parsed != nil
    }

    /// What the user has set, in the connection string, a service file or the environment.
    private static func chosen(in conninfo: String) -> [String: String] {
        let connection = resolved(conninfo)
        defer { PQfinish(connection) }
        let resolved = values(PQconninfo(connection))
        let written = values(PQconninfoParse(conninfo, nil))
        return resolved.filter { keyword, option in
            written[keyword] != nil || option.value != option.compiled
                || option.variable.map { getenv($0) != nil } ?? false
        }.mapValues(\.value)
    }

    /// An impossible SSL mode makes libpq stop after it has read everything and before it opens a
    /// socket; nothing else merges the string with the service file. To be finished.
    fileprivate static func resolved(_ conninfo: String) -> OpaquePointer? {
        withPointers(to: ["dbname", "sslmode"]) { keywords in
            withPointers(to: [conninfo, "resolve-only"]) { values in
                PQconnectStartParams(keywords, values, 1)
            }
        }
    }

    fileprivate struct Option {
        var value: String
        var compiled: String?
        var variable: String?
    }

    /// The values that are there; frees the list.
    fileprivate static func values(
        _ list: UnsafeMutablePointer<PQconninfoOption>?
    ) -> [String: Option] {
        defer { PQconninfoFree(list) }
        var options: [String: Option] = [:]
        guard var option = list else { return options }
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                options[String(cString: keyword)] = Option(
                    value: String(cString: value),
                    compiled: option.pointee.compiled.map { String(cString: $0) },
                    variable: option.pointee.envvar.map { String(cString: $0) })
            }
            option += 1
        }
        return options
    }

    /// One host each: libpq's own time limit for a host works only in its blocking call, so that a
    /// silent first host would use up the time of all.
    private static func hosts(in chosen: [String: String]) -> [[(keyword: String, value: String)]] {
        func parts(_ keyword: String) -> [String] {
            (chosen[keyword] ?? "").split(separator: ",", omittingEmptySubsequences: false)
                .map(String.init)
        }
        let (hosts, addresses, ports) = (parts("host"), parts("hostaddr"), parts("port"))
        let count = max(hosts.count, addresses.count)
        guard count > 1, [1, count].contains(ports.count),
            hosts.count == count || hosts == [""], addresses.count == count || addresses == [""],
            chosen["target_session_attrs"] != "prefer-standby"
        else { return [[]] }
        return (0..<count).map { index in
            [
                (keyword: "host", value: hosts.count == count ? hosts[index] : ""),
                (keyword: "hostaddr", value: addresses.count == count ? addresses[index] : ""),
                (keyword: "port", value: ports.count == count ? ports[index] : ports[0]),
            ]
        }
    }
}

extension PostgresSettings {
    /// Why a connection string can never work, wherever the server is; nil when it can be tried.
    /// libpq's own sentence may repeat a part of a password: an option is named, and no value.
    package static func fault(of conninfo: String) -> String? {
        if conninfo.utf8.contains(0) { return "it has a zero byte" }
        var message: UnsafeMutablePointer<CChar>?
        let parsed = PQconninfoParse(conninfo, &message)
        defer { PQfreemem(message) }
        guard parsed != nil else {
            return sentence(message.map { String(cString: $0) } ?? "")
        }
        let options = ConnectionOptions.values(parsed).mapValues(\.value)
        if let mode = options["sslmode"], !mode.isEmpty, !sslModes.contains(mode) {
            return "sslmode is none of \(sslModes.joined(separator: ", "))"
        }
        let ports = (options["port"] ?? "").split(separator: ",").map { Int(trimmed($0)) }
        guard ports.allSatisfy({ $0.map((1...65_535).contains) ?? false }) else {
            return "port is not a number from 1 to 65535"
        }
        return faultOfService(conninfo)
    }

    /// libpq looks into the service file before it looks at the mode of TLS, and stops there.
    private static func faultOfService(_ conninfo: String) -> String? {
        let connection = ConnectionOptions.resolved(conninfo)
        defer { PQfinish(connection) }
        let message = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        if message.hasPrefix("definition of service ") {
            return "the service that it names, or PGSERVICE, is in no service file: "
                + "~/.pg_service.conf, or as PGSERVICEFILE and PGSYSCONFDIR say"
        }
        return message.contains("service file \"")
            ? "the service file that it needs is missing or cannot be read" : nil
    }

    private static let sslModes = [
        "disable", "allow", "prefer", "require", "verify-ca", "verify-full",
    ]

    private static func trimmed(_ text: Substring) -> String { text.filter { $0 != " " } }

    private static func sentence(_ message: String) -> String {
        let known = ["invalid connection option \"", "invalid URI query parameter: \""]
        for start in known where message.hasPrefix(start) {
            let name = message.dropFirst(start.count).prefix { $0 != "\"" }
            // Anything else may be a part of a password that was not quoted.
            guard name.utf8.allSatisfy({ (97...122).contains($0) || $0 == 95 }) else { break }
            return "there is no option \(name)"
        }
        return "it cannot be read: it is neither a URI, postgresql://…, nor options, host=…"
    }
}

/// Calls with an array of C strings that ends in a null pointer.
func withPointers<Value>(
    to strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Value
) -> Value {
    let copies = strings.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    let pointers = copies.map { UnsafePointer($0) } + [nil]
    return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
}
