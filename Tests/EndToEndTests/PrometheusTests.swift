import Curl
import Foundation
import TestSupport
import Testing

/// A real Prometheus reads the real daemon, and knows every figure that dashboard and alerts name.
@Suite(
    .serialized,
    .enabled(if: Tool.isThere("prometheus"), "prometheus is not installed: scripts/install-deps"))
struct PrometheusTests {
    @Test func readsTheDaemonAndAnswersEveryPanel() async throws {
        try await onStage { stage in
            try stage.configure("[metrics]\nlisten = \"127.0.0.1:0\"")
            for store in ["apple", "google", "amazon"] {
                try await stage.submit(try await stage.buy(store), store) { "\(store)-\($0)" }
            }
            let daemon = try stage.daemon()
            let line = try await daemon.line { $0.contains("metrics are served on ") }
            let port = try #require(line.firstMatch(of: /port (\d+)/)?.1)
            for store in ["apple", "google", "amazon"] {
                try await stage.expect(["grant monthly purchased"], of: "\(store)-0")
            }
            try await Self.check(format: "http://127.0.0.1:\(port)/metrics")
            let prometheus = try await Prometheus(of: String(port), in: stage.folder)
            try await stage.wait {
                try await prometheus.value(
                    "sum(renewald_checks_total{answer=\"verdict\"}) >= 3 and sum(renewald_shards) == 256"
                )
                    != nil
            }
            #expect(
                try await prometheus.value(
                    "sum(renewald_events_total{kind=\"grant\",reason=\"purchased\"})") == "3")
            #expect(
                try await prometheus.value("count(renewald_circuit_state{state=\"closed\"} == 1)")
                    == "3")
            #expect(try await prometheus.value("ALERTS{alertstate=\"firing\"}") == nil)
            for query in try Self.queries() {
                #expect(try await prometheus.understands(query), "\(query)")
            }
            await prometheus.close()
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }

    /// `promtool` reads the older format and complains about names and help texts.
    private static func check(format url: String) async throws {
        let checked = try await ChildProcess.run(
            "bash", ["-c", "set -o pipefail; curl -sf '\(url)' | promtool check metrics"])
        #expect(checked.exit == .code(0), "\(checked.standardOutput) \(checked.standardError)")
        #expect(checked.standardError == "")
    }

    @Test(arguments: [
        ["check", "rules", "renewald.rules.yml"], ["test", "rules", "renewald.rules.test.yml"],
    ])
    func promtoolIsContent(_ arguments: [String]) async throws {
        let checked = try await ChildProcess.run(
            "promtool", arguments, workingFolder: Self.etc.appending(path: "prometheus").path)
        #expect(checked.exit == .code(0), "\(checked.standardOutput) \(checked.standardError)")
    }

    /// The expressions of the dashboard, with its variables filled in.
    private static func queries() throws -> [String] {
        struct Dashboard: Decodable {
            struct Panel: Decodable {
                struct Target: Decodable {
                    let expr: String
                }
                let targets: [Target]?
            }
            let panels: [Panel]
        }
        let file = try Data(contentsOf: etc.appending(path: "grafana/renewald.json"))
        let queries = try JSONDecoder().decode(Dashboard.self, from: file).panels
            .flatMap { $0.targets ?? [] }.map(\.expr)
        #expect(queries.count > 15)
        return queries.map { query in
            query.replacing("$__rate_interval", with: "1m").replacing("$store", with: ".*")
                .replacing("$app", with: ".*")
        }
    }

    private static let etc = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "etc")
}

/// A Prometheus that reads one daemon each second, with our rules.
private final class Prometheus: Sendable {
    private let process: ChildProcess
    private let client: CurlClient
    private let origin: String

    init(of port: String, in folder: String) async throws {
        let rules = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "etc/prometheus/renewald.rules.yml").path
        let configuration = """
            global: {scrape_interval: 1s, evaluation_interval: 1s}
            rule_files: [\(rules)]
            scrape_configs:
              - job_name: renewald
                static_configs: [{targets: ["127.0.0.1:\(port)"]}]

            """
        try configuration.write(
            toFile: "\(folder)/prometheus.yml", atomically: true, encoding: .utf8)
        process = try ChildProcess(
            "prometheus",
            [
                "--config.file=\(folder)/prometheus.yml", "--storage.tsdb.path=\(folder)/tsdb",
                "--web.listen-address=127.0.0.1:0",
            ])
        let line = try await process.line { $0.contains("Listening on") }
        let address = try #require(line.firstMatch(of: /address=([0-9.:]+)/)?.1)
        origin = "http://\(address)"
        client = try CurlClient(configuration: CurlConfiguration())
        _ = try await process.line { $0.contains("Server is ready") }
    }

    private struct Reply: Decodable {
        struct Body: Decodable {
            struct Sample: Decodable {
                let value: [Value]
            }
            let result: [Sample]
        }
        enum Value: Decodable {
            case time(Double)
            case text(String)

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let text = try? container.decode(String.self) {
                    self = .text(text)
                } else {
                    self = .time(try container.decode(Double.self))
                }
            }
        }
        let status: String
        let data: Body?
    }

    /// The value of the first series; nil when there is none.
    func value(_ query: String) async throws -> String? {
        guard case .text(let text)? = try await ask(query).data?.result.first?.value.last else {
            return nil
        }
        return text
    }

    func understands(_ query: String) async throws -> Bool {
        try await ask(query).status == "success"
    }

    private func ask(_ query: String) async throws -> Reply {
        let encoded =
            query.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let response = try await client.send(
            HTTPRequest(
                method: .get, url: "\(origin)/api/v1/query?query=\(encoded)",
                allowsPlainHTTP: true))
        return try JSONDecoder().decode(Reply.self, from: Data(response.body))
    }

    func close() async {
        process.send(SIGTERM)
        _ = try? await process.exit()
        await client.close()
    }
}

/// Programs that a machine may lack.
enum Tool {
    static func isThere(_ name: String) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return (folders + ["/usr/sbin", "/usr/lib/systemd", "/lib/systemd"]).contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
        }
    }

    /// Whether a mount namespace of one's own may be made here.
    static let hasNamespaces =
        Shell.run(
            """
            exec unshare --mount --fork bash -c \
                'mount --make-rprivate / && mount -t tmpfs tmpfs /run' 2>/dev/null
            """
        ).exitCode == 0
}
