import Curl
import Renewal

/// Sends requests with an access token, and once more with a new one when the first is refused.
struct GoogleClient: Sendable {
    let host: StoreHost
    let tokens: GoogleTokens
    var transport: StoreTransport

    /// One call, two when the access token has lost its power. `now` is what a point in time in
    /// `Retry-After` is measured from. Never gives back `.staleToken`.
    func get(
        _ path: String, calling name: String, at now: Timestamp
    ) async throws(StoreFailure) -> GoogleReply {
        try await dated(path, calling: name, at: now).reply
    }

    /// The same, and the time by the answer's `Date` and by `now`.
    func dated(
        _ path: String, calling name: String, at now: Timestamp
    ) async throws(StoreFailure) -> (reply: GoogleReply, moment: Moment) {
        try await reply(to: host.request(path: path), calling: name, at: now)
    }

    /// Likewise, with a body of JSON. `deadline` and `limitBytes`, which is of the answer, are for
    /// a call that waits for news.
    func post(
        _ path: String, _ body: some Encodable & Sendable, calling name: String,
        at now: Timestamp, deadline: Duration = StoreHost.deadline,
        limitBytes: Int = StoreHost.bodyLimitBytes
    ) async throws(StoreFailure) -> GoogleReply {
        var request = host.request(
            path: path, headers: [HTTPHeader("Content-Type", "application/json")])
        request.method = .post
        request.body = JSON.encode(body)
        request.deadline = deadline
        request.bodyLimitBytes = limitBytes
        return try await reply(to: request, calling: name, at: now).reply
    }

    /// Sends what changes something at Google's, and once more only when the access token was
    /// refused.
    func deliver(
        _ path: String, _ body: some Encodable & Sendable, calling name: String, at now: Timestamp
    ) async -> Delivery {
        var request = host.request(
            path: path, headers: [HTTPHeader("Content-Type", "application/json")])
        request.method = .post
        request.body = JSON.encode(body)
        do throws(StoreFailure) {
            let token = try await tokens.token()
            await transport.beforeExtraCall()
            let first = await transport.deliver(request.bearing(token), calling: name)
            guard case .answered(let response) = first,
                GoogleReply(response, at: now) == .staleToken
            else { return first }
            let renewed = try await tokens.token(replacing: token)
            await transport.beforeExtraCall()
            return await transport.deliver(request.bearing(renewed), calling: name)
        } catch {
            return .notSent(error)
        }
    }

    private func reply(
        to request: HTTPRequest, calling name: String, at now: Timestamp
    ) async throws(StoreFailure) -> (reply: GoogleReply, moment: Moment) {
        let token = try await tokens.token()
        let first = try await send(request, token, calling: name, at: now)
        guard first.reply == .staleToken else { return first }
        let renewed = try await tokens.token(replacing: token)
        await transport.beforeExtraCall()
        let again = try await send(request, renewed, calling: name, at: now)
        guard again.reply != .staleToken else { throw .refused(reason: "status 401") }
        return again
    }

    private func send(
        _ request: HTTPRequest, _ token: String, calling name: String, at now: Timestamp
    ) async throws(StoreFailure) -> (reply: GoogleReply, moment: Moment) {
        let response = try await transport.response(to: request.bearing(token), calling: name)
        return (GoogleReply(response, at: now), response.moment(at: now))
    }
}

extension HTTPRequest {
    fileprivate func bearing(_ token: String) -> HTTPRequest {
        var request = self
        request.headers.append(HTTPHeader("Authorization", "Bearer " + token))
        return request
    }
}

extension GoogleReply {
    /// The body of an answer that is about the app as a whole: what would be the fault of one
    /// purchase is a fault of the configuration or of the store here.
    func wholeAppBody() throws(StoreFailure) -> [UInt8] {
        switch self {
        case .answer(let body): return body
        case .staleToken: throw .refused(reason: "status 401")
        case .gone: throw .malformed(field: "status 410")
        case .failed(.rejected(let reason)): throw .refused(reason: reason)
        case .failed(let failure): throw failure
        }
    }
}
