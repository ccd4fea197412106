import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Sends control calls to a running simulator, which it finds by the folder of its files.
package struct ControlClient: Sendable {
    /// One member of a call's body.
    package enum Value: Hashable, Sendable {
        case text(String)
        case whole(Int)
        case fraction(Double)
    }

    /// What went wrong, in words for a person.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let host: String
    private let port: Int
    private let authority: String?

    /// Reads where the simulator listens.
    ///
    /// - Throws: `Failure` when no simulator has written its files into the folder.
    package init(directory: String) throws {
        let folder = URL(fileURLWithPath: directory)
        guard let data = try? Data(contentsOf: folder.appendingPathComponent("url")),
            let parts = Self.parts(String(decoding: data, as: UTF8.self))
        else { throw Failure(description: "no simulator has written its files there") }
        (host, port) = (parts.host, parts.port)
        authority = parts.isPlain ? nil : folder.appendingPathComponent("ca.pem").path
    }

    private static func parts(_ origin: String) -> (host: String, port: Int, isPlain: Bool)? {
        let sides = origin.split(separator: ":")
        guard sides.count == 3, let port = Int(sides[2]) else { return nil }
        return (String(sides[1].drop { $0 == "/" }), port, sides[0] == "http")
    }

    /// Sends one call and gives the reply's body.
    ///
    /// - Throws: `Failure` with the simulator's words when it refuses, or when it does not answer.
    package func send(
        _ method: String, _ path: String, _ members: [String: Value] = [:]
    ) async throws -> String {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let result: Result<(status: Int, body: String), any Error>
        do {
            result = .success(try await exchange(group, method, path, Self.body(members)))
        } catch {
            result = .failure(Failure(description: "the simulator does not answer"))
        }
        try await group.shutdownGracefully()
        let reply = try result.get()
        guard reply.status == 200 else { throw Failure(description: reply.body) }
        return reply.body
    }

    private static func body(_ members: [String: Value]) -> String {
        let body = JSON.object { json in
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                switch value {
                case .text(let text): json.member(name, text)
                case .whole(let number): json.member(name, number)
                case .fraction(let number): json.member(name, number)
                }
            }
        }
        return body.text
    }

    private func exchange(
        _ group: MultiThreadedEventLoopGroup, _ method: String, _ path: String, _ body: String
    ) async throws -> (status: Int, body: String) {
        let tls = try authority.map { file in
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .file(file)
            return try NIOSSLContext(configuration: configuration)
        }
        let promise = group.next().makePromise(of: (status: Int, body: String).self)
        let head = HTTPRequestHead(
            version: .http1_1, method: HTTPMethod(rawValue: method), uri: path,
            headers: [
                "host": "\(host):\(port)", "content-length": "\(body.utf8.count)",
                "connection": "close",
            ])
        do {
            let channel = try await ClientBootstrap(group: group).channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        try pipeline.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: nil))
                    }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(ControlExchange(head, body, promise))
                }
            }.connect(host: host, port: port).get()
            let reply = try await promise.futureResult.get()
            try? await channel.close()
            return reply
        } catch {
            promise.fail(error)
            throw error
        }
    }
}

/// One request and its reply. Lives on its event loop.
private final class ControlExchange: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let head: HTTPRequestHead
    private let body: String
    private let promise: EventLoopPromise<(status: Int, body: String)>
    private var status = 0
    private var text = ""

    init(
        _ head: HTTPRequestHead, _ body: String,
        _ promise: EventLoopPromise<(status: Int, body: String)>
    ) {
        self.head = head
        self.body = body
        self.promise = promise
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(
            wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): status = Int(head.status.code)
        case .body(let buffer): text += String(buffer: buffer)
        case .end: promise.succeed((status, text))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(ControlClient.Failure(description: "the connection was closed"))
    }
}
