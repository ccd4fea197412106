import Crypto
import Curl
import Renewal
import Synchronization
import CryptoExtras

/// Access tokens of one service account for one scope: one at a time, shared by all checks. However
/// many ask, one request is under way.
///
/// <https://developers.google.com/identity/protocols/oauth2/service-account>
final class GoogleTokens: Sendable {
    private let account: GoogleServiceAccount
    private let scope: String
    private let certificateAuthorityFile: String?
    private let transport: StoreTransport
    /// A lock and not an actor: nearly every check only reads the current token.
    private let state = Mutex(State())

    private struct State {
        var current: AccessToken?
        var trouble: Trouble?
        var isFetching = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private struct AccessToken {
        let text: String
        let madeAt: Timestamp
        let life: Duration

        /// Replaced two minutes before its end, or after half of a shorter life.
        func isFresh(at now: Timestamp) -> Bool {
            now >= madeAt && now < madeAt + life - min(.minutes(2), life / 2)
        }
    }

    /// A refusal or an outage is remembered for a moment: one request tells it to all.
    private struct Trouble {
        let failure: StoreFailure
        let since: Timestamp

        func isRecent(at now: Timestamp) -> Bool {
            now >= since && now < since + .seconds(5)
        }
    }

    init(
        _ account: GoogleServiceAccount, scope: String, certificateAuthorityFile: String?,
        transport: StoreTransport
    ) {
        self.account = account
        self.scope = scope
        self.certificateAuthorityFile = certificateAuthorityFile
        self.transport = transport
    }

    /// The current token or a new one; never `refused`, which the store does not take any more.
    func token(replacing refused: String? = nil) async throws(StoreFailure) -> String {
        for _ in 0..<Self.turnLimit {
            switch turn(replacing: refused, at: transport.wallClock()) {
            case .use(let token): return token
            case .fail(let failure): throw failure
            case .fetch: return try await fetch()
            case .wait: await waitForTheOther()
            }
        }
        throw .unreachable(reason: "no access token")
    }

    /// How often one asker waits for others, who may be cancelled, before it gives up.
    private static let turnLimit = 8

    private enum Turn {
        case use(String)
        case fail(StoreFailure)
        case fetch
        case wait
    }

    private func turn(replacing refused: String?, at now: Timestamp) -> Turn {
        state.withLock { state in
            if let current = state.current, current.text != refused, current.isFresh(at: now) {
                return .use(current.text)
            }
            if let trouble = state.trouble, trouble.isRecent(at: now) {
                return .fail(trouble.failure)
            }
            guard !state.isFetching else { return .wait }
            state.isFetching = true
            return .fetch
        }
    }

    private func waitForTheOther() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.isFetching { state.waiting.append(continuation) }
                return !state.isFetching
            }
            if isOver { continuation.resume() }
        }
    }

    private func fetch() async throws(StoreFailure) -> String {
        do throws(StoreFailure) {
            let token = try await exchange()
            finish { state in
                state.current = token
                state.trouble = nil
            }
            return token.text
        } catch {
            let trouble = Trouble(failure: error, since: transport.wallClock())
            // That one asker was cancelled is no news for the others.
            finish { state in
                if !Task.isCancelled { state.trouble = trouble }
            }
            throw error
        }
    }

    private func finish(_ change: (inout State) -> Void) {
        let woken = state.withLock { state in
            change(&state)
            state.isFetching = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in woken { waiter.resume() }
    }

    private func exchange() async throws(StoreFailure) -> AccessToken {
        let now = transport.wallClock()
        var response = try await response(at: now)
        // What is signed by a clock that is off is refused: by Google's own clock it is not.
        if [400, 401, 403].contains(response.status), let told = response.storeNow,
            Moment(now: now, jitter: 0, storeNow: told).problem != nil
        {
            response = try await self.response(at: told)
        }
        let grant = try GoogleTokenRequest.grant(response, at: now)
        return AccessToken(text: grant.text, madeAt: now, life: grant.life)
    }

    private func response(at now: Timestamp) async throws(StoreFailure) -> HTTPResponse {
        let request = try GoogleTokenRequest.request(
            account, scope: scope, at: now, certificateAuthorityFile: certificateAuthorityFile)
        return try await transport.response(to: request, calling: nil)
    }
}

/// The exchange of a signed assertion for an access token, as values.
enum GoogleTokenRequest {
    static let publisherScope = "https://www.googleapis.com/auth/androidpublisher"
    static let pubsubScope = "https://www.googleapis.com/auth/pubsub"

    static func request(
        _ account: GoogleServiceAccount, scope: String, at now: Timestamp,
        certificateAuthorityFile: String?
    ) throws(StoreFailure) -> HTTPRequest {
        let grantType = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
        let body =
            "grant_type=\(grantType)&assertion="
            + (try assertion(account, scope: scope, at: now))
        return HTTPRequest(
            method: .post, url: account.tokenURL,
            headers: [
                HTTPHeader("Content-Type", "application/x-www-form-urlencoded"),
                StoreHost.accept,
            ],
            body: Array(body.utf8), deadline: .seconds(10), bodyLimitBytes: 64 << 10,
            certificateAuthorityFile: certificateAuthorityFile,
            allowsPlainHTTP: URLText.isPlain(account.tokenURL))
    }

    /// Back-dated a little, because one from the future is refused; valid for an hour at most.
    private static func assertion(
        _ account: GoogleServiceAccount, scope: String, at now: Timestamp
    ) throws(StoreFailure) -> String {
        let issuedAt = now.microsecondsSinceEpoch / 1_000_000 - 10
        let claims = Claims(
            iss: account.email, scope: scope, aud: account.tokenURL, iat: issuedAt,
            exp: issuedAt + 3600)
        do {
            return try CompactJWS.text(
                header: Header(alg: "RS256", typ: "JWT", kid: account.keyID), claims: claims
            ) { bytes in
                try account.key.signature(
                    for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5
                ).rawRepresentation
            }
        } catch {
            throw .refused(reason: "the private key cannot sign")
        }
    }

    /// - Throws: `.refused` when the account or its key is at fault.
    static func grant(
        _ response: HTTPResponse, at now: Timestamp
    ) throws(StoreFailure) -> (text: String, life: Duration) {
        switch response.status {
        case 200: break
        case 429:
            throw .throttled(retryAfter: RetryAfter.delay(response.retryAfter, at: now))
        case 400, 401, 403:
            throw .refused(
                reason: "token endpoint: \(reason(response))", obstacle: .serviceAccount)
        case 300..<400, 404:
            throw .malformed(field: "token endpoint: status \(response.status)")
        default: throw .unreachable(reason: "token endpoint: status \(response.status)")
        }
        let grant = try JSON.decode(Grant.self, from: response.body, calling: "token endpoint")
        guard grant.access_token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
            (1...16_384).contains(grant.access_token.utf8.count)
        else { throw .malformed(field: "token endpoint: access_token") }
        let seconds = grant.expires_in?.value ?? 300
        guard (1...86_400).contains(seconds) else {
            throw .malformed(field: "token endpoint: expires_in")
        }
        return (grant.access_token, .seconds(seconds))
    }

    /// One of the known words, never what was sent.
    private static func reason(_ response: HTTPResponse) -> String {
        let sent = try? JSON.decode(Refusal.self, from: response.body).error
        let known = ["invalid_grant", "invalid_scope", "unauthorized_client", "invalid_client"]
        return known.first { $0 == sent } ?? "status \(response.status)"
    }

    private struct Header: Encodable {
        let alg: String
        let typ: String
        let kid: String?
    }

    private struct Claims: Encodable {
        let iss: String
        let scope: String
        let aud: String
        let iat: Int64
        let exp: Int64
    }

    private struct Grant: Decodable {
        let access_token: String
        let expires_in: LenientInteger?
    }

    private struct Refusal: Decodable {
        let error: String
    }
}
