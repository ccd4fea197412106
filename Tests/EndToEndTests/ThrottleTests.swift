import Foundation
import TestSupport
import Testing

/// A store that takes fewer calls than the configuration says.
struct ThrottleTests {
    private static let backlog = 300

    @Test func aStoreThatTakesFewerCallsGetsFewer() async throws {
        try await onStage(simulating: ["--quota", "amazon=30/PT1S"], logsAnswers: true) { stage in
            try stage.configure("[metrics]\nlisten = \"127.0.0.1:0\"", rate: 200)
            let made = try await stage.buy("amazon", count: Self.backlog)
            try await stage.submit(made, "amazon") { "user \($0)" }
            let daemon = try stage.daemon()
            let line = try await daemon.line { $0.contains("metrics are served on ") }
            let port = try #require(line.firstMatch(of: /port (\d+)/)?.1)
            try await stage.wait(within: .seconds(90)) {
                let page = try await ChildProcess.run(
                    "curl", ["-s", "http://127.0.0.1:\(port)/metrics"])
                return page.standardOutput.contains(/renewald_pace_ratio{.*} 0\.\d/)
            }
            try await stage.wait(within: .seconds(90)) {
                try await stage.value(
                    "SELECT count(*) FROM renewald.events WHERE kind = 'grant'")
                    == "\(Self.backlog)"
            }
            #expect(try stage.answers(of: "receipt", with: 200) == Self.backlog)
            let refused = try stage.answers(of: "receipt", with: 429)
            #expect(refused > 0 && refused < Self.backlog / 4, "\(refused) calls were in vain")
            daemon.send(SIGTERM)
            #expect(try await daemon.exit() == .code(0))
        }
    }
}

extension Stage {
    /// How often an endpoint has answered with this status.
    fileprivate func answers(of endpoint: String, with status: Int) throws -> Int {
        try String(contentsOfFile: "\(folder)/answers", encoding: .utf8)
            .split(separator: "\n").count {
                $0.contains("\"endpoint\":\"\(endpoint)\"") && $0.contains("\"status\":\(status)")
            }
    }
}
