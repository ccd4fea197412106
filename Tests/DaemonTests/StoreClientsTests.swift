import Configuration
import Engine
import Foundation
import Renewal
import Testing
import _CryptoExtras

@testable import Daemon

@Suite struct StoreClientsTests {
    /// What the daemon reads is what the store's own part says, with every limit of it.
    @Test func theListOfRefundsIsReadWithinItsBudget() throws {
        let clients = try clients(more: "pubsub_subscription = \"projects/p/subscriptions/s\"")
        let sources = clients.hintSources
        #expect(
            sources.map(\.name) == [
                "google com.example.reader voided", "google com.example.reader notifications",
            ])
        let budget = try #require(sources.first?.budget)
        #expect(budget.callsPerDay < 6000)
        #expect(budget.apart > .seconds(1))
        #expect(sources.last?.budget == nil)
        #expect(sources.map(\.interval) == [.seconds(60), .seconds(10)])
        #expect(sources.map(\.endpoint) == ["google voided", "google notifications"])
    }

    /// Of one Google app, with a key that was made for it.
    private func clients(more: String) throws -> StoreClients {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation
        let account = try JSONEncoder().encode([
            "type": "service_account", "client_email": "reader@example.com", "private_key": key,
            "token_uri": "https://127.0.0.1/token",
        ])
        let file = FileManager.default.temporaryDirectory
            .appending(path: "\(UUID().uuidString).json")
        #expect(
            FileManager.default.createFile(
                atPath: file.path, contents: account, attributes: [.posixPermissions: 0o600]))
        defer { try? FileManager.default.removeItem(at: file) }
        let settings = try Settings.parse(
            text: """
                [database]
                url = "host=/nowhere"
                [[app]]
                store = "google"
                id = "com.example.reader"
                service_account = "file:\(file.path)"
                \(more)
                """, file: "renewald.toml", environment: [:])
        return try StoreClients(
            settings.apps, settings.stores, settings.catalog, inFlight: 1, environment: [:],
            metrics: DaemonMetrics(startedAt: .never))
    }
}
