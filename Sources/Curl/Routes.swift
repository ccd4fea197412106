import CCurl
import Synchronization

/// The origins that have answered in HTTP/1.1, where every request in flight needs a connection.
///
/// libcurl has one connection limit for all hosts, and opens as many as that for a burst that does
/// not fit the HTTP/2 connections it has. So there are two routes: one with few connections, where
/// all origins begin, and one with many for those noted here and for plain `http`.
final class OldPeers: Sendable {
    private let origins = Mutex<Set<String>>([])

    /// - Returns: false when it is noted already.
    func note(_ origin: String) -> Bool {
        origins.withLock { $0.insert(origin).inserted }
    }

    func has(_ request: HTTPRequest) -> Bool {
        origins.withLock { !$0.isEmpty && $0.contains(request.origin) }
    }
}

/// Which way a loop carries its transfers.
enum Route {
    /// HTTP/2 where the peer can, over few connections; what must not is given to `wide`.
    case narrow(peers: OldPeers, wide: Inbox)
    /// HTTP/1.1 over many connections.
    case wide

    var multiplexes: Bool {
        switch self {
        case .narrow: true
        case .wide: false
        }
    }

    func connections(_ configuration: CurlConfiguration) -> Int {
        switch self {
        case .narrow: max(1, configuration.maximumConnectionsPerHost)
        case .wide: max(1, configuration.maximumHTTP1ConnectionsPerHost)
        }
    }
}

extension HTTPRequest {
    /// The scheme, host and port as they are written.
    var origin: String {
        let start = url.utf8.dropFirst("https://".utf8.count)
        let end = start.firstIndex { [0x2f, 0x3f, 0x23].contains($0) }
        return String(url[..<(end ?? url.endIndex)])
    }
}

extension Transfer {
    /// Whether the answer came in HTTP/1.
    var isOldAnswer: Bool {
        var version = 0
        renewald_curl_get_long(handle, CURLINFO_HTTP_VERSION, &version)
        return version == Int(CURL_HTTP_VERSION_1_0) || version == Int(CURL_HTTP_VERSION_1_1)
    }

    /// Whether nothing of the request has been sent: it waits for a connection.
    var isUnsent: Bool {
        var sent = 0
        renewald_curl_get_long(handle, CURLINFO_REQUEST_SIZE, &sent)
        return sent == 0
    }
}
