import Curl
import Testing

/// Cancelling and closing end what is under way, and nothing else.
@Suite(.timeLimit(.minutes(2))) struct StoppingTests {
    @Test(arguments: ["/stall-head", "/stall-body"])
    func cancelsARequestInFlight(path: String) async throws {
        let server = try await TestServer.web()
        try await withClient { client in
            let hanging = Task { try await client.send(server.request(path)) }
            await server.waitFor("begin")
            hanging.cancel()
            await #expect(throws: CurlError.cancelled) { try await hanging.value }
            let answer = try await client.send(server.request("/plain"))
            #expect(answer.text == "hello")
        }
    }

    @Test func sendsNothingForACancelledTask() async throws {
        let server = try await TestServer.web()
        try await withClient { client in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await client.send(server.request("/stall-head"))
            }
            await #expect(throws: CurlError.cancelled) { try await task.value }
        }
    }

    /// Both ends of each race are fine; a hang or a second resume is not.
    @Test func survivesCancellationAtAnyMoment() async throws {
        let server = try await TestServer.streams("together", 1)
        try await withClient { client in
            await withTaskGroup(of: Void.self) { group in
                for turn in 0..<500 {
                    let task = Task { try await client.send(server.request("/")) }
                    group.addTask {
                        for _ in 0..<(turn % 50) { await Task.yield() }
                        task.cancel()
                        switch await task.result {
                        case .success(let answer): #expect(answer.status == 200)
                        case .failure(let error): #expect(error as? CurlError == .cancelled)
                        }
                    }
                }
            }
            let answer = try await client.send(server.request("/"))
            #expect(answer.status == 200)
        }
    }

    @Test func endsOutstandingRequestsWhenClosed() async throws {
        let server = try await TestServer.web()
        let client = try CurlClient(configuration: CurlConfiguration())
        let tasks = (0..<20).map { _ in
            Task { try await client.send(server.request("/stall-head")) }
        }
        // The others wait for a connection.
        await server.waitFor("begin", count: 8)
        await client.close()
        for task in tasks {
            await #expect(throws: CurlError.cancelled) { try await task.value }
        }
        await #expect(throws: CurlError.cancelled) {
            try await client.send(server.request("/plain"))
        }
        await client.close()
    }

    @Test func closesWithoutARequest() async throws {
        for _ in 0..<20 {
            let client = try CurlClient(configuration: CurlConfiguration())
            async let first: Void = client.close()
            async let second: Void = client.close()
            _ = await (first, second)
        }
    }

    /// The connection is seen to close at the server.
    @Test func endsItsThreadWhenForgotten() async throws {
        let server = try await TestServer.streams("together", 1)
        var client: CurlClient? = try CurlClient(configuration: CurlConfiguration())
        _ = try await client?.send(server.request("/"))
        client = nil
        await server.waitFor("closed")
    }
}
