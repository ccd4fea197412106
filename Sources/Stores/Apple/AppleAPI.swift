import Curl
import Renewal

/// The App Store Server API of one app: where it is, and what admits to it.
struct AppleAPI: Sendable {
    let hosts: [StoreEnvironment: StoreHost]
    let tokens: AppleTokens
    var transport: StoreTransport
}

/// The calls of one check, of which all but the first have to wait for their share of the quota.
struct AppleCalls: Sendable {
    private let api: AppleAPI
    private let now: Timestamp
    private var isFirst: Bool

    /// `isFirst` is false where the quota has not been asked for any call yet.
    init(_ api: AppleAPI, at now: Timestamp, isFirst: Bool = true) {
        self.api = api
        self.now = now
        self.isFirst = isFirst
    }

    mutating func reply(
        to request: AppleRequest, from environment: StoreEnvironment
    ) async throws(StoreFailure) -> AppleReply {
        AppleReply(try await response(to: request, from: environment), at: now)
    }

    /// A refused token is replaced once.
    mutating func response(
        to request: AppleRequest, from environment: StoreEnvironment
    ) async throws(StoreFailure) -> HTTPResponse {
        guard let host = api.hosts[environment] else {
            throw .unsupported(reason: "this environment is not configured")
        }
        let token = try api.tokens.token(at: api.transport.wallClock())
        let name = "\(request.name), \(environment.rawValue)"
        let response = try await send(request.http(at: host, token: token), calling: name)
        guard response.status == 401 else { return response }
        let renewed = try api.tokens.token(
            replacing: token, date: response.date, at: api.transport.wallClock())
        return try await send(request.http(at: host, token: renewed), calling: name)
    }

    /// Sends what changes something at Apple's. A refused token is replaced once.
    func deliver(_ request: AppleRequest, to environment: StoreEnvironment) async -> Delivery {
        guard let host = api.hosts[environment] else {
            return .notSent(.unsupported(reason: "this environment is not configured"))
        }
        let name = "\(request.name), \(environment.rawValue)"
        do throws(StoreFailure) {
            let token = try api.tokens.token(at: api.transport.wallClock())
            await api.transport.beforeExtraCall()
            let first = await api.transport.deliver(
                request.http(at: host, token: token), calling: name)
            guard case .answered(let response) = first, response.status == 401 else {
                return first
            }
            let renewed = try api.tokens.token(
                replacing: token, date: response.date, at: api.transport.wallClock())
            await api.transport.beforeExtraCall()
            return await api.transport.deliver(
                request.http(at: host, token: renewed), calling: name)
        } catch {
            return .notSent(error)
        }
    }

    private mutating func send(
        _ request: HTTPRequest, calling name: String
    ) async throws(StoreFailure) -> HTTPResponse {
        if !isFirst { await api.transport.beforeExtraCall() }
        isFirst = false
        return try await api.transport.response(to: request, calling: name)
    }
}

/// What a purchase is asked about with.
struct AppleSubject: Hashable, Sendable {
    var id: OrderID
    /// The only environment to believe; nil when it is to be found.
    var environment: StoreEnvironment?
    /// Which to try first, where it is to be found.
    var likely = StoreEnvironment.production
    /// Whether the id is one of this very purchase; otherwise it only names the customer.
    var isNamed = true
    /// Whether it is known not to be a subscription.
    var isOneTime = false
    /// Whether the id comes out of a receipt, which it is to replace.
    var isMigrated = false
}
