import NIOCore
import NIOHTTP1

/// One connection of HTTP/1.1: gathers a request, writes the reply. Lives on its event loop.
final class HTTP1Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let responder: Responder
    private let host: StoreHost
    private let bodyLimitBytes: Int
    private var request: Request?
    private var keepsAlive = true

    init(_ responder: Responder, _ host: StoreHost, bodyLimitBytes: Int) {
        self.responder = responder
        self.host = host
        self.bodyLimitBytes = bodyLimitBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            keepsAlive = head.isKeepAlive
            request = Request(
                method: head.method.rawValue, target: head.uri,
                authorization: head.headers.first(name: "authorization"))
            request?.keepSigned(head.headers.lazy.map { ($0.name, $0.value) })
        case .body(let buffer):
            guard let count = request?.body.count, count + buffer.readableBytes <= bodyLimitBytes
            else { return context.close(promise: nil) }
            request?.body.append(contentsOf: buffer.readableBytesView)
        case .end:
            guard let request else { return }
            self.request = nil
            let reply = responder.answer(request, at: host)
            if reply.delayMilliseconds > 0 {
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                context.eventLoop.scheduleTask(in: .milliseconds(reply.delayMilliseconds)) {
                    let (handler, context) = bound.value
                    handler.deliver(reply, context)
                }
            } else {
                deliver(reply, context)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func deliver(_ reply: Reply, _ context: ChannelHandlerContext) {
        switch reply.delivery {
        case .hang: return
        case .reset: return context.close(promise: nil)
        case .whole, .cut: break
        }
        var headers = HTTPHeaders([
            ("content-type", reply.contentType),
            ("content-length", String(reply.body.readableBytes)),
            ("date", responder.dateText()), ("server", "storesim"),
        ])
        for (name, value) in reply.headers { headers.add(name: name, value: value) }
        if !keepsAlive { headers.add(name: "connection", value: "close") }
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: reply.status),
            headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        var body = reply.body
        if reply.delivery == .cut {
            body.moveWriterIndex(to: body.writerIndex / 2)
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            return context.close(promise: nil)
        }
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let keepsAlive = keepsAlive
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            if !keepsAlive { bound.value.close(promise: nil) }
        }
    }
}
