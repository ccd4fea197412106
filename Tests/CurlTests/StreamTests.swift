import Curl
import Testing

/// Many requests over few HTTP/2 connections.
@Suite(.timeLimit(.minutes(2))) struct StreamTests {
    /// The server answers when all are open at once, with the number of its connections.
    @Test func multiplexesOverFewConnections() async throws {
        let server = try await TestServer.streams("together", 500)
        let answers = try await withClient { client in
            try await sendAtOnce(client, server.request("/"), count: 500)
        }
        #expect(answers.count == 500)
        let connections = try #require(answers.first.flatMap { Int($0.text) })
        #expect((5...8).contains(connections))
    }

    @Test func usesAConnectionAgain() async throws {
        let server = try await TestServer.streams("together", 1)
        try await withClient { client in
            for _ in 0..<300 {
                let answer = try await client.send(server.request("/"))
                #expect(answer.text == "1")
            }
        }
    }

    @Test func opensNoMoreThanTheLimit() async throws {
        let server = try await TestServer.streams("together", 20)
        let narrow = CurlConfiguration(
            maximumConnectionsPerHost: 2, maximumStreamsPerConnection: 10)
        let answers = try await withClient(narrow) { client in
            try await sendAtOnce(client, server.request("/"), count: 100)
        }
        #expect(answers.allSatisfy { $0.text == "2" })
    }

    /// One answer tells that the host speaks HTTP/1.1; it then gets a connection for each request.
    @Test(arguments: [true, false])
    func servesManyAtOnceOverHTTP1(isPlain: Bool) async throws {
        let server = try await isPlain ? TestServer.plainWeb() : TestServer.web()
        let answers = try await withClient { client in
            _ = try await client.send(server.request("/plain"))
            return try await sendAtOnce(client, server.request("/together"), count: 200)
        }
        #expect(answers.allSatisfy { $0.status == 200 })
    }

    /// With one connection, the others wait for it and are let go when it has been answered.
    @Test func freesWhatWaitsWhenAHostTurnsOutToSpeakHTTP1() async throws {
        let server = try await TestServer.web()
        let narrow = CurlConfiguration(maximumConnectionsPerHost: 1)
        try await withClient(narrow) { client in
            let first = Task { try await client.send(server.request("/held")) }
            await server.waitFor("begin")
            let others = Task {
                try await sendAtOnce(client, server.request("/together"), count: 200)
            }
            try server.tell("go")
            let answer = try await first.value
            #expect(answer.status == 200)
            let count = try await others.value.count
            #expect(count == 200)
        }
    }

    static let troubles = [
        ("refused stream", "reset", 7), ("broken stream", "reset", 2), ("calm down", "reset", 11),
        ("goaway", "goaway", 0), ("goaway with an error", "goaway", 2), ("lost", "die", 1),
    ]

    @Test(arguments: troubles)
    func callsHTTP2TroubleUnreachable(name: String, deed: String, number: Int) async throws {
        let server = try await TestServer.streams(deed, number)
        try await withClient { client in
            await withTaskGroup(of: CurlError?.self) { group in
                for _ in 0..<50 {
                    group.addTask { await failure(of: server.request("/"), client) }
                }
                for await error in group {
                    guard case .unreachable = error else {
                        Issue.record("\(error as Any)")
                        continue
                    }
                }
            }
        }
    }

    @Test func leavesADeadConnection() async throws {
        let server = try await TestServer.streams("mute", 0)
        try await withClient { client in
            let error = await failure(of: server.request("/", deadline: .seconds(2)), client)
            #expect(error == .unreachable(reason: "timed out"))
            let answer = try await client.send(server.request("/"))
            #expect(answer.text == "2")
        }
    }

    @Test func cancelsAStreamAndKeepsTheConnection() async throws {
        let server = try await TestServer.streams("together", 2)
        try await withClient { client in
            let hanging = Task { try await client.send(server.request("/")) }
            await server.waitFor("stream")
            hanging.cancel()
            await #expect(throws: CurlError.cancelled) { try await hanging.value }
            let answer = try await client.send(server.request("/"))
            #expect(answer.text == "1")
            // libcurl says so to the server no sooner than with the next request.
            await server.waitFor("reset")
        }
    }

    private func sendAtOnce(
        _ client: CurlClient, _ request: HTTPRequest, count: Int
    ) async throws -> [HTTPResponse] {
        try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            for _ in 0..<count {
                group.addTask { try await client.send(request) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

private func failure(of request: HTTPRequest, _ client: CurlClient) async -> CurlError? {
    do throws(CurlError) {
        _ = try await client.send(request)
        return nil
    } catch {
        return error
    }
}
