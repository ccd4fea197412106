package import Curl
package import Renewal

/// What a store needs of the world. The composition root fills it.
package struct StoreTransport: Sendable {
    /// Sends one request.
    package var send: @Sendable (HTTPRequest) async throws(CurlError) -> HTTPResponse
    /// The machine's clock: only for validity times inside signed requests and for the age of
    /// tokens (design rule 12).
    package var wallClock: @Sendable () -> Timestamp
    /// The work that calls are made for; nil where nobody counts or notes them. A token endpoint
    /// has no part in the quota.
    package var session: CallSession?

    package init(
        send: @escaping @Sendable (HTTPRequest) async throws(CurlError) -> HTTPResponse,
        wallClock: @escaping @Sendable () -> Timestamp,
        session: CallSession? = nil
    ) {
        self.send = send
        self.wallClock = wallClock
        self.session = session
    }
}

extension StoreTransport {
    /// Awaited before each call beyond the first of one piece of work, so that the quota holds.
    func beforeExtraCall() async { await session?.waitForFurtherCall() }

    /// Sends, and puts what went wrong into the words of the core. `name` is the vendor's name for
    /// the call; without one it is not noted as part of a check, as its body may be a secret.
    func response(
        to request: HTTPRequest, calling name: String?
    ) async throws(StoreFailure) -> HTTPResponse {
        do throws(CurlError) {
            let response = try await (name == nil ? send(request) : sendInPlace(request))
            if let name { session?.note(name, response) }
            return response
        } catch {
            if let name { session?.note(name, nil) }
            throw StoreFailure(error)
        }
    }
}

extension StoreTransport {
    /// Places that may pass before the call starts, as the machine has too much to do. Then it is
    /// made at any time: a store that is asked too often says so, and what was begun gets done.
    private static let placeLimit = 3

    /// Sends a request that the store counts, in the place that the session has for it.
    private func sendInPlace(_ request: HTTPRequest) async throws(CurlError) -> HTTPResponse {
        var request = request
        for _ in 0..<Self.placeLimit {
            request.startsBy = session?.place.startsBy
            do throws(CurlError) {
                return try await send(request)
            } catch .late {
                await session?.waitForFurtherCall()
            }
        }
        request.startsBy = nil
        return try await send(request)
    }
}

/// What came of a request that changes something at the store.
enum Delivery {
    case answered(HTTPResponse)
    /// The store cannot know of it.
    case notSent(StoreFailure)
    /// It may have been taken.
    case unknown(StoreFailure)
}

extension StoreTransport {
    /// Sends a request that must not be sent twice by itself.
    func deliver(_ request: HTTPRequest, calling name: String) async -> Delivery {
        var request = request
        request.isSentOnce = true
        do throws(CurlError) {
            let response = try await sendInPlace(request)
            session?.note(name, response)
            return .answered(response)
        } catch {
            session?.note(name, nil)
            switch error {
            case .unreachable(_, _, isUnsent: true), .refusedURL, .late:
                return .notSent(StoreFailure(error))
            case .unreachable, .tooLarge, .cancelled: return .unknown(StoreFailure(error))
            }
        }
    }
}

extension StoreFailure {
    init(_ error: CurlError) {
        self =
            switch error {
            case .unreachable(let reason, let isUntrusted, _):
                .unreachable(reason: reason, obstacle: isUntrusted ? .certificate : nil)
            case .tooLarge(let limitBytes): .malformed(field: "body over \(limitBytes) bytes")
            case .refusedURL(let reason): .unreachable(reason: "not sent: \(reason)")
            case .cancelled: .unreachable(reason: "cancelled")
            case .late: .unreachable(reason: "not sent: its place in the row has passed")
            }
    }
}

/// Where a store is asked: an origin, and whom to trust there.
package struct StoreHost: Hashable, Sendable {
    /// Such as `https://api.storekit.apple.com`, without a path and without a slash at its end.
    package let baseURL: String
    /// A PEM file of the only authorities to trust; nil is the system's.
    package let certificateAuthorityFile: String?

    /// An `https` or `http` origin; one slash at its end is taken off. Nil when it is anything
    /// else, such as a URL with a path, a user or a blank.
    package init?(baseURL: String, certificateAuthorityFile: String? = nil) {
        var origin = Substring(baseURL)
        if origin.hasSuffix("/") { origin.removeLast() }
        guard let authority = URLText.authority(of: origin), authority.endIndex == origin.endIndex
        else { return nil }
        self.baseURL = String(origin)
        self.certificateAuthorityFile = certificateAuthorityFile
    }

    /// Whether the configured origin is `http`.
    package var allowsPlainHTTP: Bool { URLText.isPlain(baseURL) }

    /// A request to this host, with the limits for answers about one purchase.
    func request(path: String, headers: [HTTPHeader] = []) -> HTTPRequest {
        HTTPRequest(
            method: .get, url: baseURL + path, headers: headers + [StoreHost.accept],
            body: nil, deadline: StoreHost.deadline, bodyLimitBytes: StoreHost.bodyLimitBytes,
            certificateAuthorityFile: certificateAuthorityFile, allowsPlainHTTP: allowsPlainHTTP)
    }

    static let accept = HTTPHeader("Accept", "application/json")
    static let deadline = Duration.seconds(15)
    static let bodyLimitBytes = 1 << 20
}

/// The little that has to be known of a configured URL.
enum URLText {
    static func isPlain(_ url: some StringProtocol) -> Bool {
        url.lowercased().hasPrefix("http://")
    }

    /// The `host:port` part of a URL of printable ASCII whose scheme is `https` or `http`.
    static func authority<Text: StringProtocol>(of url: Text) -> Text.SubSequence? {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
        guard let colon = url.firstIndex(of: ":") else { return nil }
        guard ["https", "http"].contains(url[..<colon].lowercased()) else { return nil }
        let rest = url[colon...]
        guard rest.hasPrefix("://") else { return nil }
        let authority = rest.dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.isEmpty, !authority.contains(where: { "@\\\"<>^`{|}%".contains($0) })
        else { return nil }
        return authority
    }
}
