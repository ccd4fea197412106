import Testing

@testable import Curl

/// Which way requests take.
@Suite(.timeLimit(.minutes(2))) struct RouteTests {
    /// A host turns out to speak HTTP/1.1 while further requests are on their way to the route with
    /// one connection: the server answers none of them before all are there.
    @Test func whatIsUnderWayTakesTheOtherRouteAsWell() async throws {
        let server = try await TestServer.web()
        let configuration = CurlConfiguration(maximumConnectionsPerHost: 1)
        try await withClient(configuration) { client in
            #expect(try await client.send(server.request("/plain")).status == 200)
            let count = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        try await client.send(server.request("/together"), by: client.narrow).status
                    }
                }
                return try await group.reduce(into: 0) { count, status in
                    count += status == 200 ? 1 : 0
                }
            }
            #expect(count == 200)
        }
    }
}
