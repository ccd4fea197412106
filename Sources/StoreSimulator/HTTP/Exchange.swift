import FoundationEssentials
import NIOCore

/// Which of the two listening ports was asked: they are different hosts to a client.
enum StoreHost: String, Hashable, Sendable {
    case production
    case sandbox
}

/// A request as both versions of HTTP bring it.
struct Request {
    var method: String
    /// Path and query as sent, percent-encoded.
    var target: String
    var authorization: String?
    /// All fields of the head, with small names; kept only where AWS's signature is about them.
    private(set) var signedFields: [String: String] = [:]
    var body: [UInt8] = []
    var host = StoreHost.production
    /// What the router found: what the path stands for, and its named parts.
    var endpoint = Endpoint.other
    var parameters: [Router.Parameter] = []

    init(method: String, target: String, authorization: String? = nil, body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.authorization = authorization
        self.body = body
    }

    mutating func keepSigned(_ fields: some Sequence<(name: String, value: String)>) {
        guard authorization?.hasPrefix(AWSKey.algorithm) == true else { return }
        for (name, value) in fields {
            // HTTP/2 has another name for the host.
            signedFields[name == ":authority" ? "host" : name.lowercased()] = value
        }
    }

    /// The segments of the path, still percent-encoded, without empty ones.
    var segments: [Substring] {
        Router.segments(target[...].utf8.prefix { $0 != UInt8(ascii: "?") })
    }

    /// A named part of the route's path, percent-decoded; empty when the route has none such.
    subscript(name: String) -> String { parameters.first { $0.name == name }?.value ?? "" }

    /// What stands behind `Bearer`.
    var bearer: String? {
        guard let authorization, authorization.hasPrefix("Bearer ") else { return nil }
        return String(authorization.dropFirst(7))
    }

    /// The body as `type`; nil when it is none.
    func decode<Body: Decodable>(_ type: Body.Type) -> Body? {
        try? JSONDecoder().decode(type, from: Data(body))
    }

    /// The same where an empty body stands for an empty object.
    func decodeOrEmpty<Body: Decodable>(_ type: Body.Type) -> Body? {
        body.isEmpty ? try? JSONDecoder().decode(type, from: Data("{}".utf8)) : decode(type)
    }

    /// The first value of a query parameter, percent-decoded.
    func query(_ name: String) -> String? { queries(name).first }

    /// All values of a query parameter that may be repeated, percent-decoded.
    func queries(_ name: String) -> [String] {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return target[target.index(after: mark)...].split(separator: "&").compactMap { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return sides.count == 2 && sides[0] == name ? PercentCoding.decode(sides[1]) : nil
        }
    }
}

/// What goes back, and how well it is delivered.
struct Reply {
    enum Delivery: Hashable {
        case whole
        /// The head promises the whole body; half of it comes, then the stream ends.
        case cut
        /// Nothing ever comes.
        case hang
        /// The connection is closed at once.
        case reset
    }

    var status: Int
    var contentType = "application/json"
    var headers: [(String, String)] = []
    var body: ByteBuffer
    var delivery = Delivery.whole
    var delayMilliseconds: Int64 = 0
    /// Whom the log of answers says that it was about; nil for what no store knows.
    var note: Note?
    /// The body before a fault shortened or garbled it; nil when it is whole.
    var unspoiled: ByteBuffer?

    /// What the log of answers tells beside the reply itself.
    struct Note: Hashable {
        var store: StoreName
        var purchase: Int?
        var now: Instant
        var fault: Fault.Kind?
        var faults: [Int]
    }

    init(_ status: Int, _ body: ByteBuffer) {
        self.status = status
        self.body = body
    }

    init(_ status: Int, _ json: JSON) {
        self.init(status, ByteBuffer(bytes: json.bytes))
    }

    init(_ status: Int, text: String) {
        self.init(status, ByteBuffer(string: text))
        contentType = "text/plain"
    }

    static func html(_ status: Int) -> Reply {
        let page = "<!DOCTYPE html><html><body><h1>Be right back.</h1></body></html>\n"
        var reply = Reply(status, ByteBuffer(string: page))
        reply.contentType = "text/html; charset=utf-8"
        return reply
    }
}

enum PercentCoding {
    /// The text with every `%XX` replaced by its byte; nil when that is not valid UTF-8 or a
    /// percent sign is followed by something else.
    static func decode(_ text: Substring) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(),
                let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
