import Curl
import Foundation
import Testing

/// Each trouble ends with the error that tells the caller what to do next.
@Suite(.timeLimit(.minutes(2))) struct FailureTests {
    static let transportTroubles = [
        ("/reset", ["connection broken"]),
        ("/cut", ["answer cut short", "connection broken"]),
        ("/empty", ["closed without an answer", "connection broken"]),
        ("/garbage", ["not an HTTP answer"]),
        ("/broken-gzip", ["answer cannot be decompressed"]),
        ("/long-head", ["transfer failed with curl code 23"]),
    ]

    @Test(arguments: transportTroubles)
    func callsTransportTroubleUnreachable(path: String, reasons: [String]) async throws {
        let server = try await TestServer.web()
        let error = await failure(of: server.request(path))
        #expect(reasons.contains { error == .unreachable(reason: $0) }, "\(error as Any)")
    }

    /// A byte now and then is no progress either.
    @Test(arguments: ["/stall-head", "/stall-body", "/drip"])
    func keepsTheDeadline(path: String) async throws {
        let server = try await TestServer.web()
        let error = await failure(of: server.request(path, deadline: .seconds(2)))
        #expect(error == .unreachable(reason: "timed out"))
        // It was the answer that took too long, not the way there.
        await server.waitFor("begin")
    }

    /// libcurl has no deadline for these.
    @Test func keepsTheDeadlineOfARequestThatWaitsForAConnection() async throws {
        let server = try await TestServer.web()
        let one = CurlConfiguration(maximumConnectionsPerHost: 1)
        try await withClient(one) { client in
            let first = Task { try await client.send(server.request("/stall-head")) }
            await server.waitFor("begin")
            await #expect(throws: CurlError.unreachable(reason: "timed out", isUnsent: true)) {
                try await client.send(server.request("/plain", deadline: .milliseconds(100)))
            }
            first.cancel()
            await #expect(throws: CurlError.cancelled) { try await first.value }
        }
    }

    @Test func sendsNothingWhoseTimeToStartHasPassed() async throws {
        let server = try await TestServer.web()
        var request = server.request("/plain")
        request.startsBy = .now + .seconds(60)
        #expect(await failure(of: request) == nil)
        request.startsBy = .now - .milliseconds(1)
        #expect(await failure(of: request) == .late)
    }

    /// What was sent and not answered may have been taken.
    @Test(arguments: [false, true])
    func tellsWhatWasSentFromWhatWasNot(isSentOnce: Bool) async throws {
        let server = try await TestServer.web()
        for path in ["/reset", "/empty", "/stall-head"] {
            var request = server.request(path, method: .put, body: [1], deadline: .seconds(2))
            request.isSentOnce = isSentOnce
            guard case .unreachable(_, _, false) = await failure(of: request) else {
                Issue.record("\(path) counts as unsent")
                continue
            }
        }
    }

    @Test func refusesACertificateThatIsNotTrusted() async throws {
        let server = try await TestServer.web()
        let other = try await TestServer.web()
        var request = server.request("/plain")
        request.certificateAuthorityFile = other.certificateFile
        #expect(
            await failure(of: request)
                == .unreachable(
                    reason: "TLS certificate not trusted", isUntrusted: true, isUnsent: true))
        request.certificateAuthorityFile = nil
        #expect(
            await failure(of: request)
                == .unreachable(
                    reason: "TLS certificate not trusted", isUntrusted: true, isUnsent: true))
    }

    @Test func refusesACertificateForAnotherName() async throws {
        let server = try await TestServer.web(name: "other.example")
        let error = await failure(of: server.request("/plain"))
        #expect(
            error == .unreachable(reason: "TLS certificate is for another name", isUnsent: true))
    }

    /// Nothing is heard, so nothing can be read into it.
    @Test func refusesACertificateThatHasExpired() async throws {
        let server = try await TestServer.web(hasExpired: true)
        let error = await failure(of: server.request("/plain"))
        #expect(error == .unreachable(reason: "TLS certificate expired", isUnsent: true))
    }

    @Test func namesAnAuthorityFileThatCannotBeRead() async throws {
        let server = try await TestServer.web()
        var request = server.request("/plain")
        request.certificateAuthorityFile = server.certificateFile + ".missing"
        let error = await failure(of: request)
        #expect(
            error == .unreachable(reason: "certificate authority file not readable", isUnsent: true)
        )
    }

    @Test func refusesPlainHTTPUnlessAllowed() async throws {
        let server = try await TestServer.plainWeb()
        var request = server.request("/plain")
        request.allowsPlainHTTP = false
        #expect(await failure(of: request) == .refusedURL(reason: "not https"))
    }

    static let unusableURLs = [
        "", "localhost", "file:///etc/passwd", "ftp://localhost/", "httpsx://localhost/",
        "https://", "https://local host/", "https://localhost/\r\nX: y", "https://localhost/\0",
        "https://localhost:99999/", "https://[::1/",
    ]

    @Test(arguments: unusableURLs)
    func refusesAURLThatCannotBeUsed(url: String) async {
        for allows in [false, true] {
            let error = await failure(of: HTTPRequest(url: url, allowsPlainHTTP: allows))
            guard case .refusedURL = error else {
                Issue.record("\(error as Any)")
                continue
            }
        }
    }

    @Test(arguments: [("X", "a\r\nY: b"), ("X", "a\0"), ("X: a", "b"), ("", "b"), ("X\n", "b")])
    func refusesAHeaderThatIsMoreThanOne(name: String, value: String) async {
        let request = HTTPRequest(
            url: "https://localhost/", headers: [HTTPHeader(name, value)])
        let error = await failure(of: request)
        #expect(error == .refusedURL(reason: "a header holds a control character"))
    }

    @Test func saysThatAConnectionIsRefused() async {
        // Port 1 is reserved, and nothing listens there.
        let error = await failure(of: HTTPRequest(url: "https://127.0.0.1:1/"))
        #expect(error == .unreachable(reason: "connection refused", isUnsent: true))
    }

    @Test func saysThatANameIsUnknown() async {
        let error = await failure(of: HTTPRequest(url: "https://name.invalid/"))
        #expect(error == .unreachable(reason: "name not resolved", isUnsent: true))
    }

    @Test func goesOnAfterTrouble() async throws {
        let server = try await TestServer.web()
        try await withClient { client in
            for (path, _) in Self.transportTroubles {
                _ = try? await client.send(server.request(path))
                let answer = try await client.send(server.request("/plain"))
                #expect(answer.text == "hello")
            }
        }
    }

    private func failure(of request: HTTPRequest) async -> CurlError? {
        do {
            _ = try await withClient { try await $0.send(request) }
            return nil
        } catch {
            return error as? CurlError
        }
    }
}
