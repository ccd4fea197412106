/// How a `CurlClient` uses the network, the same for all its requests.
package struct CurlConfiguration: Sendable {
    /// The `User-Agent` header.
    package var userAgent: String

    /// The most connections that are open to one HTTP/2 host at once. Times
    /// `maximumStreamsPerConnection`, it is how many requests are served at once; others wait.
    ///
    /// One is opened as soon as the others are full, and a burst opens them all.
    package var maximumConnectionsPerHost: Int

    /// The same for an HTTP/1.1 host, where a connection serves one request at a time. Before the
    /// first answer tells that a host is one, `maximumConnectionsPerHost` counts.
    package var maximumHTTP1ConnectionsPerHost: Int

    /// The most requests that share an HTTP/2 connection; the peer may ask for fewer.
    package var maximumStreamsPerConnection: Int

    /// For the name, the TCP and the TLS handshake together.
    package var connectTimeout: Duration

    /// After this a connection takes no new requests, so that a changed DNS record is seen.
    package var connectionLifetime: Duration

    /// The defaults suit a few stores with thousands of requests in flight.
    package init(
        userAgent: String = "renewald",
        maximumConnectionsPerHost: Int = 8,
        maximumStreamsPerConnection: Int = 100,
        connectTimeout: Duration = .seconds(5),
        connectionLifetime: Duration = .seconds(300),
        maximumHTTP1ConnectionsPerHost: Int = 256
    ) {
        self.userAgent = userAgent
        self.maximumConnectionsPerHost = maximumConnectionsPerHost
        self.maximumHTTP1ConnectionsPerHost = maximumHTTP1ConnectionsPerHost
        self.maximumStreamsPerConnection = maximumStreamsPerConnection
        self.connectTimeout = connectTimeout
        self.connectionLifetime = connectionLifetime
    }
}

extension Duration {
    /// Whole milliseconds, rounded up and at least 1, for libcurl takes 0 as "never".
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        let most: Int64 = 1_000_000_000
        guard seconds < most / 1000 else { return Int(most) }
        let rounded = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int(max(1, rounded))
    }

    /// Whole seconds, at least 1.
    var wholeSeconds: Int { max(1, milliseconds / 1000) }
}
