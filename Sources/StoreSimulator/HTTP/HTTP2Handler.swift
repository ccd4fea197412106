import NIOCore
import NIOHPACK
import NIOHTTP2

/// One stream of HTTP/2: gathers a request, writes the reply. Lives on its event loop.
final class HTTP2Handler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let responder: Responder
    private let host: StoreHost
    private let connection: any Channel
    private let bodyLimitBytes: Int
    private var request: Request?

    init(
        _ responder: Responder, _ host: StoreHost, connection: any Channel, bodyLimitBytes: Int
    ) {
        self.responder = responder
        self.host = host
        self.connection = connection
        self.bodyLimitBytes = bodyLimitBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let frame):
            if request == nil {
                request = Request(
                    method: frame.headers.first(name: ":method") ?? "",
                    target: frame.headers.first(name: ":path") ?? "",
                    authorization: frame.headers.first(name: "authorization"))
                request?.keepSigned(frame.headers.lazy.map { ($0.name, $0.value) })
            }
            if frame.endStream { finish(context) }
        case .data(let frame):
            if case .byteBuffer(let buffer) = frame.data {
                guard (request?.body.count ?? 0) + buffer.readableBytes <= bodyLimitBytes else {
                    return context.close(promise: nil)
                }
                request?.body.append(contentsOf: buffer.readableBytesView)
            }
            if frame.endStream { finish(context) }
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func finish(_ context: ChannelHandlerContext) {
        guard let request else { return }
        self.request = nil
        let reply = responder.answer(request, at: host)
        guard reply.delayMilliseconds > 0 else { return deliver(reply, context) }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .milliseconds(reply.delayMilliseconds)) {
            let (handler, context) = bound.value
            handler.deliver(reply, context)
        }
    }

    private func deliver(_ reply: Reply, _ context: ChannelHandlerContext) {
        switch reply.delivery {
        case .hang: return
        case .reset: return connection.close(promise: nil)
        case .whole, .cut: break
        }
        var headers = HPACKHeaders([
            (":status", String(reply.status)), ("content-type", reply.contentType),
            ("content-length", String(reply.body.readableBytes)),
            ("date", responder.dateText()), ("server", "storesim"),
        ])
        for (name, value) in reply.headers { headers.add(name: name, value: value) }
        context.write(wrapOutboundOut(.headers(.init(headers: headers))), promise: nil)
        var body = reply.body
        if reply.delivery == .cut {
            body.moveWriterIndex(to: body.writerIndex / 2)
            // Closing before END_STREAM sends RST_STREAM.
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(.data(.init(data: .byteBuffer(body)))))
                .whenComplete { _ in bound.value.close(promise: nil) }
            return
        }
        context.writeAndFlush(
            wrapOutboundOut(.data(.init(data: .byteBuffer(body), endStream: true))),
            promise: nil)
    }
}
