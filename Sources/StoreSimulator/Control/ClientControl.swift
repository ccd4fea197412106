import Crypto
import FoundationEssentials
import Synchronization

/// Where a running simulator is to be found, once it listens.
struct Place: Hashable, Sendable {
    var origin: String
    var sandboxOrigin: String
    /// The authority's file; nil without TLS.
    var authority: String?
}

/// What clients are told: `/control/curl`, files for `curl -K`, each with an address and fresh
/// proof of who asks; and `/control/quit`.
final class ClientControl: Sendable {
    private static let tokenSeconds: Int64 = 3600

    /// Where the simulator listens; nil until then.
    let place = Mutex<Place?>(nil)
    private let world: SharedWorld
    private let credentials: Credentials
    private let quit: @Sendable () -> Void

    init(world: SharedWorld, credentials: Credentials, quit: @escaping @Sendable () -> Void) {
        self.world = world
        self.credentials = credentials
        self.quit = quit
    }

    var routes: [Route] {
        [
            .control("GET", "curl/{purchase}") { [self] request throws(ControlError) in
                try curl(request)
            },
            .control("POST", "quit") { [quit] _ in
                quit()
                return .done
            },
        ]
    }

    /// What curl needs to ask about a purchase.
    private func curl(_ request: Request) throws(ControlError) -> Reply {
        let number = try world.purchase(named: request["purchase"])
        guard let configuration = curlConfiguration(number) else {
            throw ControlError("nobody listens yet", status: 409)
        }
        return Reply(200, text: configuration)
    }

    /// The text of a configuration file for curl; nil before the simulator listens.
    func curlConfiguration(_ number: Int) -> String? {
        guard let place = place.withLock({ $0 }) else { return nil }
        let purchase = world.withLock { $0.purchase(number) }
        let isSandbox = purchase.environment == .sandbox
        let origin = isSandbox ? place.sandboxOrigin : place.origin
        var lines: [String] = []
        switch purchase.store {
        case .apple:
            guard let token = try? appleRequestToken(bundle: purchase.app) else { return nil }
            let read =
                purchase.timeline.terms.kind == .autoRenewable ? "subscriptions" : "transactions"
            lines.append("url = \"\(origin)/inApps/v1/\(read)/\(purchase.token)\"")
            lines.append("header = \"Authorization: Bearer \(token)\"")
        case .google:
            let machine = SimulatedClock.machineNow
            let bearer = world.withLock { world in
                world.issueBearer(
                    until: world.now(machine) + Self.tokenSeconds * 1000,
                    scopes: [Bearer.publisherScope])
            }
            let read =
                purchase.timeline.terms.kind == .autoRenewable ? "subscriptionsv2" : "productsv2"
            lines.append(
                "url = \"\(origin)/androidpublisher/v3/applications/\(purchase.app)/purchases/"
                    + "\(read)/tokens/\(purchase.token)\"")
            lines.append("header = \"Authorization: Bearer \(bearer)\"")
        case .amazon:
            lines.append(
                "url = \"\(origin)/version/1.0/verifyReceiptId/developer/"
                    + "\(credentials.amazonSecret)/user/\(purchase.storeUser)/receiptId/"
                    + "\(purchase.token)\"")
        }
        if let authority = place.authority { lines.append("cacert = \"\(authority)\"") }
        return (lines + ["silent", "show-error"]).joined(separator: "\n") + "\n"
    }

    /// A request token of the App Store Server API, good for an hour of the machine's clock.
    private func appleRequestToken(bundle: String) throws -> String {
        let now = SimulatedClock.machineNow.seconds
        let header = JSON.object { json in
            json.member("alg", "ES256")
            json.member("typ", "JWT")
            json.member("kid", credentials.keyID)
        }
        let claims = JSON.object { json in
            json.member("iss", credentials.issuerID)
            json.member("iat", now)
            json.member("exp", now + Self.tokenSeconds)
            json.member("aud", "appstoreconnect-v1")
            json.member("bid", bundle)
        }
        var text = Base64.url(header.bytes) + [UInt8(ascii: ".")] + Base64.url(claims.bytes)
        let signature = try credentials.appleKey.signature(for: text)
        text += [UInt8(ascii: ".")] + Base64.url(signature.rawRepresentation)
        return String(decoding: text, as: UTF8.self)
    }
}

extension Simulator {
    /// The purchases of a demonstration, one in each store, and `apple.curl`, `google.curl` and
    /// `amazon.curl` in the folder, made anew every ten minutes so that they stay good.
    ///
    /// - Throws: when the folder cannot be written.
    func demonstrate(_ options: Options) throws {
        let directory = options.directory
        let machine = SimulatedClock.machineNow
        let numbers = responder.world.withLock { world in
            let now = world.now(machine)
            return StoreName.allCases.map { store in
                let terms = Terms(store: store, period: Period(months: 1))
                return world.add(
                    Purchase.Buyer(app: options.app),
                    Timeline(
                        store: store, product: "pro.monthly", start: now + -Instant.day,
                        terms: terms)
                ).number
            }
        }
        let write = { @Sendable [responder] in
            for (store, number) in zip(StoreName.allCases, numbers) {
                guard let text = responder.clients.curlConfiguration(number) else { continue }
                try ClientFiles.putSecret(text, "\(store.rawValue).curl", in: directory)
            }
        }
        try write()
        repeats(everyMinutes: 10) { try? write() }
    }
}
