import Foundation
import TestSupport
import Testing

/// A database that is reached over TLS alone, its certificate by a private authority.
@Suite(.serialized)
struct DatabaseTLSTests {
    private static let password = "planted-password-of-the-worker"

    @Test func whoIsTrustedIsServedAndWhoIsNotIsToldWhy() async throws {
        let (ours, theirs) = (try await Authority(), try await Authority())
        try await ours.sign("localhost")
        for user in ["worker", "certified"] { try await ours.sign(user) }
        try await theirs.sign("certified")
        let cluster = try await server(ours)
        let database = try await cluster.newDatabase()
        try await onStage(database: database) { stage in
            stage.plant([Self.password])
            try await stage.script(
                """
                CREATE ROLE worker LOGIN PASSWORD '\(Self.password)' IN ROLE renewald_worker;
                CREATE ROLE certified LOGIN IN ROLE renewald_worker;
                """)
            let base =
                "hostaddr=127.0.0.1 port=\(try Self.port(of: database)) dbname=test1 "
                + "sslmode=verify-full sslrootcert="
            let trusting = "host=localhost \(base)\(ours.certificate)"
            let worker = "user=worker password=\(Self.password)"
            let known = "user=certified sslcert=\(ours.folder)/certified.crt "
            let key = "sslkey=\(ours.folder)/certified.key"
            let good = ["\(trusting) \(worker)", "\(trusting) \(known) \(key)"]
            for (index, conninfo) in good.enumerated() {
                let made = try await stage.buy("google")[0]
                try await stage.submit(made, "google", for: "u-\(index)")
                try use(conninfo, stage)
                let once = try await stage.renewald("once")
                #expect(once.exit == .code(0), "\(once.standardError)")
                try await stage.expect(["grant monthly purchased"], of: "u-\(index)")
            }
            let foreign = "sslcert=\(theirs.folder)/certified.crt sslkey=\(theirs.folder)/"
            let refused = [
                (
                    "host=localhost \(base)\(theirs.certificate) \(worker)",
                    "the server's certificate has expired, or no authority in sslrootcert signed it"
                ),
                (
                    "host=elsewhere.example \(base)\(ours.certificate) \(worker)",
                    "the server's certificate is for another host name"
                ),
                (
                    "host=localhost \(base)/nowhere/ca.pem \(worker)",
                    "the file of sslrootcert is missing or cannot be read"
                ),
                (
                    "\(trusting) user=certified \(foreign)certified.key",
                    "the server rejects our side of TLS"
                ),
                ("\(trusting) \(known) sslkey=/nowhere/key", "(sslcert, sslkey)"),
                ("\(trusting) user=certified", "SQLSTATE 28000"),
                ("\(trusting) user=worker password=wrong", "the password is wrong"),
                (
                    "\(trusting) user=worker",
                    "the server asks for a password, and none is configured"
                ),
            ]
            for (bad, reason) in refused {
                try use(bad, stage)
                let once = try await stage.renewald("once")
                #expect(once.exit == .code(69), "\(reason)")
                #expect(once.standardError.contains(reason), "\(once.standardError)")
                for word in ["localhost", "worker", "certified", "/tmp", "nowhere", "127.0"] {
                    #expect(!once.standardError.contains(word), "\(once.standardError)")
                }
            }
        }
    }

    private func use(_ conninfo: String, _ stage: Stage) throws {
        try stage.configure()
        try stage.useDatabase(conninfo)
    }

    private static func port(of conninfo: String) throws -> String {
        let option = conninfo.split(separator: " ").first { $0.hasPrefix("port=") }
        return String(try #require(option).dropFirst(5))
    }

    private func server(_ authority: Authority) async throws -> ScratchCluster {
        let folder = authority.folder
        try """
        local all postgres trust
        hostssl all worker 127.0.0.1/32 scram-sha-256
        hostssl all certified 127.0.0.1/32 cert
        """.write(toFile: "\(folder)/hba", atomically: true, encoding: .utf8)
        if let account = ScratchCluster.account {
            for name in ["localhost.key", "hba"] {
                chown("\(folder)/\(name)", account.uid, account.gid)
            }
        }
        return try await ScratchCluster(
            .init(settings: [
                "listen_addresses": "127.0.0.1", "port": String(try FreePort.next()),
                "hba_file": "\(folder)/hba", "ssl": "on", "ssl_ca_file": authority.certificate,
                "ssl_cert_file": "\(folder)/localhost.crt",
                "ssl_key_file": "\(folder)/localhost.key",
            ]))
    }
}
