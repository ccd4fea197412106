package import Configuration
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A reply of the metrics endpoint.
package struct MetricsReply: Hashable, Sendable {
    package let status: Int
    package let contentType: String
    package let body: String
}

/// What the endpoint answers.
package struct MetricsPages: Sendable {
    private let registry: MetricRegistry
    private let health: Health

    private static let plain = "text/plain; charset=utf-8"
    private static let older = "text/plain; version=0.0.4; charset=utf-8"
    private static let openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    package init(registry: MetricRegistry, health: Health) {
        self.registry = registry
        self.health = health
    }

    /// - Parameters:
    ///   - method: such as `GET`.
    ///   - target: the path, with or without a query.
    ///   - accept: what the client would like to read.
    /// - Returns: the whole reply.
    package func reply(method: String, target: String, accept: String) -> MetricsReply {
        guard method == "GET" || method == "HEAD" else {
            return MetricsReply(status: 405, contentType: Self.plain, body: "only GET\n")
        }
        switch target.prefix(while: { $0 != "?" }) {
        case "/metrics":
            let isOpen = accept.contains("application/openmetrics-text")
            return MetricsReply(
                status: 200, contentType: isOpen ? Self.openMetrics : Self.older,
                body: registry.text(isOpen ? .openMetrics : .text))
        case "/healthz": return answer(health.complaint())
        case "/readyz": return answer(health.reasonToWait())
        default:
            return MetricsReply(
                status: 404, contentType: Self.plain, body: "/metrics /healthz /readyz\n")
        }
    }

    private func answer(_ complaint: String?) -> MetricsReply {
        MetricsReply(
            status: complaint == nil ? 200 : 503, contentType: Self.plain,
            body: (complaint ?? "ok") + "\n")
    }
}

/// A small HTTP server for figures and health: HTTP/1.1, one thread, few connections.
package final class MetricsServer: Sendable {
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    /// Where it listens.
    package let port: Int

    /// A connection on which nothing happens for so long is closed; sooner where another one needs
    /// its place.
    private static let idleLimit = TimeAmount.seconds(60)
    private static let connectionLimit = 32

    /// Why it cannot listen, for a person.
    static func reason(of error: any Error) -> String {
        switch (error as? IOError)?.errnoCode {
        case 98: "another program listens there"  // EADDRINUSE
        case 99: "this machine has no such address"  // EADDRNOTAVAIL
        case 13: "this user may not use a port below 1024"  // EACCES
        default: "\(error)"
        }
    }

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - address: where.
    ///   - pages: what is answered.
    /// - Throws: what the system says of an address that cannot be had.
    package init(_ address: ListenAddress, _ pages: MetricsPages) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let gate = ConnectionGate(limit: Self.connectionLimit)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 16)
            .childChannelInitializer { channel in
                gate.enter(channel)
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(IdleStateHandler(allTimeout: Self.idleLimit))
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(MetricsHandler(pages) { gate.hears(channel) })
                }
            }
        do {
            channel = try await bootstrap.bind(host: address.host, port: address.port).get()
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
        self.group = group
        port = channel.localAddress?.port ?? address.port
    }

    /// Stops listening and closes what is open.
    package func close() async {
        try? await channel.close()
        try? await group.shutdownGracefully()
    }
}

/// Holds so many connections at a time: one more takes the place of the one that has been quiet for
/// longest, so that nobody shuts others out by saying nothing.
private final class ConnectionGate: Sendable {
    private struct Entry {
        let channel: any Channel
        var heardAt: Int
    }

    private struct State {
        var open: [ObjectIdentifier: Entry] = [:]
        /// Counts what is heard, on whichever connection.
        var heard = 0
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    func enter(_ channel: any Channel) {
        let quietest = state.withLock { state -> (any Channel)? in
            var quietest: (any Channel)?
            if state.open.count >= limit,
                let first = state.open.min(by: { $0.value.heardAt < $1.value.heardAt })
            {
                quietest = first.value.channel
                state.open[first.key] = nil
            }
            state.heard += 1
            state.open[ObjectIdentifier(channel)] = Entry(channel: channel, heardAt: state.heard)
            return quietest
        }
        quietest?.close(promise: nil)
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { $0.open[ObjectIdentifier(channel)] = nil }
        }
    }

    func hears(_ channel: any Channel) {
        state.withLock { state in
            state.heard += 1
            state.open[ObjectIdentifier(channel)]?.heardAt = state.heard
        }
    }
}

private final class MetricsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let pages: MetricsPages
    private let isHeard: () -> Void
    private var head: HTTPRequestHead?

    /// `isHeard` is called for each request.
    init(_ pages: MetricsPages, isHeard: @escaping () -> Void) {
        self.pages = pages
        self.isHeard = isHeard
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        // No page needs a body: it is read past.
        case .body: break
        case .end:
            guard let head = head.take() else { return }
            isHeard()
            answer(head, context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let reply = pages.reply(
            method: request.method.rawValue, target: request.uri,
            accept: request.headers[canonicalForm: "accept"].joined(separator: ","))
        var head = HTTPResponseHead(
            version: request.version, status: HTTPResponseStatus(statusCode: reply.status))
        head.headers.add(name: "content-type", value: reply.contentType)
        head.headers.add(name: "content-length", value: String(reply.body.utf8.count))
        if !request.isKeepAlive { head.headers.add(name: "connection", value: "close") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD {
            let body = context.channel.allocator.buffer(string: reply.body)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        let sent = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
        guard !request.isKeepAlive else { return }
        let channel = context.channel
        sent.futureResult.whenComplete { _ in channel.close(promise: nil) }
    }
}
