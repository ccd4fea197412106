import Curl
import Testing

/// Whatever is printed of a request, an answer or an error holds nothing of what was sent.
@Suite(.timeLimit(.minutes(2))) struct SecrecyTests {
    private static let secret = "planted-7f3a"

    @Test func showsNothingOfValues() {
        let header = HTTPHeader("Authorization", Self.secret)
        let request = HTTPRequest(
            method: .post, url: "https://\(Self.secret)", headers: [header],
            body: Array(Self.secret.utf8), certificateAuthorityFile: Self.secret)
        let response = HTTPResponse(
            status: 200, contentType: Self.secret, retryAfter: Self.secret, date: Self.secret,
            requestID: Self.secret, body: Array(Self.secret.utf8))
        for value in [header, request, response] as [Any] {
            #expect(Self.isSilent(value))
        }
        #expect("\(request)" == "POST request")
        #expect("\(response)" == "response 200, 12 bytes")
    }

    @Test func saysNothingInErrors() async throws {
        let server = try await TestServer.web()
        let other = try await TestServer.web(name: "other.example")
        let paths = ["/stall-head", "/big", "/reset", "/empty", "/garbage", "/broken-gzip"]
        var requests = paths.map { planted(server.request($0, deadline: .seconds(2))) }
        requests.append(planted(other.request("/plain")))
        for origin in [
            "https://127.0.0.1:1", "https://\(Self.secret).invalid", "http://localhost",
            "https://[\(Self.secret)", "https://\(Self.secret):99999", "https://a b",
        ] {
            requests.append(planted(HTTPRequest(url: origin)))
        }
        var faulty = planted(server.request("/plain"))
        faulty.headers.append(HTTPHeader("X", "\(Self.secret)\n"))
        requests.append(faulty)
        for request in requests {
            await #expect {
                try await withClient { try await $0.send(request) }
            } throws: { error in
                Self.isSilent(error)
            }
        }
    }

    private func planted(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.method = .post
        request.url += "/?token=\(Self.secret)"
        request.headers.append(HTTPHeader("Authorization", Self.secret))
        request.body = Array(Self.secret.utf8)
        request.bodyLimitBytes = 100
        return request
    }

    private static func isSilent(_ value: Any) -> Bool {
        var shown = "\(value) \(String(reflecting: value)) "
        dump(value, to: &shown)
        // A body would be shown as numbers.
        let bytes = Array(secret.utf8).map(String.init).joined(separator: ", ")
        return !shown.contains(secret) && !shown.contains(bytes)
    }
}
