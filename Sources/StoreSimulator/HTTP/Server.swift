import Crypto
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

/// Two listening ports on loopback, with HTTP/1.1 and, over TLS, HTTP/2.
struct Server {
    private static let bodyLimitBytes = 1_048_576
    private static let concurrentStreams = 1000

    let group: MultiThreadedEventLoopGroup
    let responder: Responder
    let tls: NIOSSLContext?

    /// Listens at 127.0.0.1; port 0 stands for one that is free. Throws when the port is taken.
    func listen(port: Int, as host: StoreHost) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { [responder, tls] channel in
                Self.configure(channel, responder, host, tls)
            }
            .bind(host: "127.0.0.1", port: port).get()
    }

    private static func configure(
        _ channel: any Channel, _ responder: Responder, _ host: StoreHost, _ tls: NIOSSLContext?
    ) -> EventLoopFuture<Void> {
        guard let tls else { return configureHTTP1(channel, responder, host) }
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
        }.flatMap {
            channel.configureHTTP2SecureUpgrade(
                h2ChannelConfigurator: { configureHTTP2($0, responder, host) },
                http1ChannelConfigurator: { configureHTTP1($0, responder, host) })
        }
    }

    private static func configureHTTP1(
        _ channel: any Channel, _ responder: Responder, _ host: StoreHost
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: true)
            try pipeline.addHandler(
                HTTP1Handler(responder, host, bodyLimitBytes: bodyLimitBytes))
        }
    }

    private static func configureHTTP2(
        _ channel: any Channel, _ responder: Responder, _ host: StoreHost
    ) -> EventLoopFuture<Void> {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: concurrentStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 65_536),
        ]
        connection.maximumRecentlyResetStreams = concurrentStreams
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.outboundBufferSizeHighWatermark = 65_536
        // Clients that give up on a hanging answer reset their streams; that is no attack here.
        stream.streamResetFrameRateLimit.maximumCount = 1_000_000
        stream.streamErrorRateLimit.maximumCount = 1_000_000
        return channel.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: connection, streamConfiguration: stream
        ) { streamChannel in
            streamChannel.eventLoop.makeCompletedFuture {
                try streamChannel.pipeline.syncOperations.addHandler(
                    HTTP2Handler(
                        responder, host, connection: channel, bodyLimitBytes: bodyLimitBytes))
            }
        }.map { _ in }
    }
}

extension NIOSSLContext {
    static func server(_ credentials: Credentials) throws -> NIOSSLContext {
        let chain = try credentials.serverCertificates.map {
            NIOSSLCertificateSource.certificate(try NIOSSLCertificate(bytes: $0, format: .der))
        }
        let pem = Array(credentials.serverKey.pemRepresentation.utf8)
        let key = NIOSSLPrivateKeySource.privateKey(
            try NIOSSLPrivateKey(bytes: pem, format: .pem))
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain, privateKey: key)
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["h2", "http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }
}
