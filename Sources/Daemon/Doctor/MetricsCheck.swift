import Configuration
import Curl

/// Looks who answers where the figures are to be had.
struct MetricsCheck {
    let address: ListenAddress
    let client: CurlClient

    private static let subject = "metrics"
    private static let deadline = Duration.seconds(3)

    func run() async -> Finding {
        let request = HTTPRequest(
            url: "http://\(reachable)/metrics", deadline: Self.deadline, bodyLimitBytes: 64 << 20,
            allowsPlainHTTP: true)
        do throws(CurlError) {
            let response = try await client.send(request)
            return Self.judge(
                String(decoding: response.body, as: UTF8.self), status: response.status, address)
        } catch {
            return .note(
                Self.subject, "no answer on \(address)",
                do: "check that the daemon runs, and was restarted since metrics.listen was "
                    + "changed: `systemctl status renewald`")
        }
    }

    /// An address on which all are listened to is asked by its loopback.
    private var reachable: String {
        switch address.host {
        case "0.0.0.0": "127.0.0.1:\(address.port)"
        case "::": "[::1]:\(address.port)"
        default: address.description
        }
    }

    static func judge(_ body: String, status: Int, _ address: ListenAddress) -> Finding {
        let mark = "renewald_build_info{"
        guard status == 200,
            let line = body.split(separator: "\n").first(where: { $0.hasPrefix(mark) })
        else {
            return .wrong(
                subject, "a program other than renewald answers on \(address)",
                do: "find it with `ss -ltnp`, or set another address in metrics.listen")
        }
        guard line.contains("\"\(Version.text)\"") else {
            return .note(
                subject, "the daemon on \(address) has another version than this program",
                do: "`systemctl restart renewald`")
        }
        return .ok(subject, "the daemon answers on \(address)")
    }
}
