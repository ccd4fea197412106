import Curl
import Foundation
import Testing

/// What a caller gets for what an HTTP/1.1 server sends.
@Suite(.timeLimit(.minutes(2))) struct AnswerTests {
    @Test func givesAnAnswerOverTLS() async throws {
        let server = try await TestServer.web()
        let answer = try await withClient { try await $0.send(server.request("/plain")) }
        #expect(answer.status == 200)
        #expect(answer.text == "hello")
        #expect(answer.contentType == "application/json; charset=utf-8")
        #expect(answer.requestID == "id-1")
        #expect(answer.date?.hasSuffix("GMT") == true)
        #expect(answer.retryAfter == nil)
    }

    @Test func knowsApplesRequestID() async throws {
        let server = try await TestServer.web()
        let answer = try await withClient { try await $0.send(server.request("/apple")) }
        #expect(answer.requestID == "id-2")
    }

    @Test func givesARedirectBack() async throws {
        let server = try await TestServer.web()
        let answer = try await withClient { try await $0.send(server.request("/redirect")) }
        #expect(answer.status == 302)
    }

    @Test func givesRetryAfterBack() async throws {
        let server = try await TestServer.web()
        let answer = try await withClient { try await $0.send(server.request("/throttled")) }
        #expect(answer.status == 429)
        #expect(answer.retryAfter == "120")
    }

    @Test func readsTheLastHeadOnly() async throws {
        let server = try await TestServer.web()
        let answer = try await withClient { try await $0.send(server.request("/early")) }
        #expect(answer.status == 200)
        #expect(answer.text == "hi")
        #expect(answer.retryAfter == nil)
        #expect(answer.date == nil)
    }

    @Test func sendsMethodPathHeadersAndBody() async throws {
        let server = try await TestServer.web()
        let body = Array("a\0b".utf8) + [UInt8](repeating: 0x7a, count: 2 << 20)
        let headers = [HTTPHeader("Authorization", "Bearer x"), HTTPHeader("X-Empty", "")]
        let request = server.request(
            "/echo?q=%2F&r=../..", method: .post, headers: headers, body: body,
            bodyLimitBytes: 4 << 20)
        let answer = try await withClient(CurlConfiguration(userAgent: "renewald/test")) {
            try await $0.send(request)
        }
        let lines = answer.text.prefix(1000).split(separator: "\n").map { $0.lowercased() }
        #expect(lines.first == "post /echo?q=%2f&r=../..")
        #expect(lines.contains("authorization: bearer x"))
        #expect(lines.contains { $0.hasPrefix("x-empty:") })
        #expect(lines.contains("user-agent: renewald/test"))
        #expect(lines.contains("accept-encoding: gzip"))
        #expect(!lines.contains { $0.hasPrefix("content-type:") || $0.hasPrefix("expect:") })
        #expect(answer.body.suffix(body.count).elementsEqual(body))
    }

    @Test func putsABody() async throws {
        let server = try await TestServer.web()
        let answers = try await withClient { client in
            let put = server.request("/echo", method: .put, body: [0x61])
            let post = server.request("/echo", method: .post, body: [0x62])
            return (try await client.send(put).text, try await client.send(post).text)
        }
        #expect(answers.0.hasPrefix("PUT /echo") && answers.0.hasSuffix("a"))
        #expect(answers.1.hasPrefix("POST /echo") && answers.1.hasSuffix("b"))
    }

    @Test func sendsAnEmptyBody() async throws {
        let server = try await TestServer.web()
        let answer = try await withClient {
            try await $0.send(server.request("/echo", method: .post))
        }
        #expect(answer.text.contains("Content-Length: 0"))
    }

    /// The second request of a handle must not inherit from the first.
    @Test func forgetsThePreviousRequest() async throws {
        let server = try await TestServer.web()
        let answer = try await withClient { client in
            let headers = [HTTPHeader("X-First", "1")]
            _ = try await client.send(
                server.request("/echo", method: .post, headers: headers, body: [1, 2, 3]))
            return try await client.send(server.request("/echo"))
        }
        #expect(answer.text.hasPrefix("GET "))
        #expect(!answer.text.contains("X-First"))
        #expect(!answer.text.contains("Content-Length"))
    }

    @Test func decompresses() async throws {
        let server = try await TestServer.web()
        let answer = try await withClient { try await $0.send(server.request("/gzip")) }
        #expect(answer.text == "unpacked")
    }

    @Test func acceptsABodyOfTheLimit() async throws {
        let server = try await TestServer.web()
        let answer = try await withClient {
            try await $0.send(server.request("/big", bodyLimitBytes: 300_000))
        }
        #expect(answer.body.count == 300_000)
    }

    @Test(arguments: ["/big", "/big-unannounced", "/bomb"])
    func refusesABodyOverTheLimit(path: String) async throws {
        let server = try await TestServer.web()
        await #expect(throws: CurlError.tooLarge(limitBytes: 299_999)) {
            try await withClient {
                try await $0.send(server.request(path, bodyLimitBytes: 299_999))
            }
        }
    }

    @Test func speaksPlainHTTPWhereAllowed() async throws {
        let server = try await TestServer.plainWeb()
        let answer = try await withClient { try await $0.send(server.request("/plain")) }
        #expect(answer.text == "hello")
    }

    /// In a process of its own, for the environment belongs to all threads.
    @Test func ignoresProxyVariables() async {
        await #expect(processExitsWith: .success) {
            for name in ["https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "http_proxy"] {
                setenv(name, "http://127.0.0.1:1", 1)
            }
            let server = try await TestServer.web()
            let answer = try await withClient { try await $0.send(server.request("/plain")) }
            #expect(answer.text == "hello")
        }
    }
}
