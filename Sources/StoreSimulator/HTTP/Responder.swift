import Synchronization

/// Gives the reply to every request. It does not wait for anything, so it may run on an event loop.
final class Responder: Sendable {
    let world: SharedWorld
    let credentials: Credentials
    let clock: ClockControl
    let clients: ClientControl
    private let router: Router
    /// Where every answer of a store is written; nil for nowhere.
    private let answers: AnswerLog?
    private let dateHeader = Mutex<(second: Int64, text: String)>((0, ""))

    /// A signed answer of the same state is given again for `signingWindow` milliseconds.
    init(
        world: World, credentials: Credentials, clockFile: String?, signingWindow: Int64,
        answers: AnswerLog? = nil, quit: @escaping @Sendable () -> Void
    ) {
        let world = SharedWorld(world)
        let calls = StoreCalls(world: world)
        let tokens = AppleTokens(world: world, credentials: credentials)
        let (signer, receipts) = (credentials.signer, credentials.receipts)
        self.world = world
        self.credentials = credentials
        self.answers = answers
        clock = ClockControl(world: world, file: clockFile)
        clients = ClientControl(world: world, credentials: credentials, quit: quit)
        let stores = [
            AppleTransactionsHandler(
                calls: calls, tokens: tokens, signer: signer, signingWindow: signingWindow
            ).routes,
            AppleNotificationsHandler(calls: calls, tokens: tokens, signer: signer).routes,
            AppleConsumptionHandler(calls: calls, tokens: tokens).routes,
            VerifyReceiptHandler(calls: calls, secret: credentials.appleSecret, signer: receipts)
                .routes,
            GooglePurchasesHandler(calls: calls).routes,
            GoogleVoidedHandler(calls: calls).routes,
            GoogleOrdersHandler(calls: calls).routes,
            GoogleRefundReviewHandler(calls: calls).routes,
            GoogleTokenHandler(calls: calls, credentials: credentials).routes,
            PubSubHandler(calls: calls).routes,
            AmazonReceiptHandler(calls: calls, secret: credentials.amazonSecret).routes,
            AmazonQueueHandler(calls: calls, key: credentials.awsKey).routes,
        ]
        let controls = [
            clock.routes, clients.routes, PurchaseControl(world: world, signer: receipts).routes,
            TruthControl(world: world).routes, ScenarioControl(world: world).routes,
            FaultControl(world: world).routes, QuotaControl(world: world).routes,
            CallControl(world: world).routes, NotificationControl(world: world).routes,
            RefundControl(world: world).routes,
        ]
        router = Router((stores + controls).flatMap(\.self))
    }

    func answer(_ request: Request, at host: StoreHost) -> Reply {
        var request = request
        request.host = host
        let reply: Reply
        switch router.match(request) {
        case .found(let route, let parameters):
            request.endpoint = route.endpoint
            request.parameters = parameters
            reply = route.handler(request)
        case .otherMethod(let endpoint):
            request.endpoint = endpoint
            reply = Failures.otherMethod(request)
        case .nothing: reply = Failures.unrouted(request)
        }
        if let answers, !request.target.hasPrefix("/control/") {
            answers.add(request, reply, now: world.now())
        }
        return reply
    }

    /// The `Date` header, by the simulated clock.
    func dateText() -> String {
        let now = world.now()
        return dateHeader.withLock { kept in
            if kept.second != now.seconds || kept.text.isEmpty {
                kept = (now.seconds, now.headerText)
            }
            return kept.text
        }
    }
}

extension Failures {
    /// What the host of a path says when nobody answers there.
    static func unrouted(_ request: Request) -> Reply {
        switch request.segments.first {
        case "androidpublisher": notFound(.google)
        case "v1": PubSubHandler.failure(404, "Not found.", "NOT_FOUND")
        case "version", "sandbox": Reply(404, Amazon.failure("Unknown operation"))
        case "control": ControlError("there is no such control call", status: 404).reply
        default: Reply(404, text: "Not found\n")
        }
    }

    /// Only Google has another word for a method than for a path that it does not know.
    static func otherMethod(_ request: Request) -> Reply {
        switch request.endpoint {
        case .token: Reply(405, text: "Method not allowed\n")
        case .subscription, .subscriptionV1, .product, .productV1, .voided: status(405, .google)
        case .statuses, .transaction, .history, .refunds, .order, .notifications, .verifyReceipt,
            .orders, .reviewRefund, .consumption, .pubsub, .receipt, .queue, .other:
            unrouted(request)
        }
    }
}

extension Instant {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// As HTTP writes dates: `Thu, 01 Jan 2026 00:00:00 GMT`.
    var headerText: String {
        let date = civil
        let weekday = ((Instant.floorDivide(milliseconds, Instant.day) % 7) + 7) % 7
        let time = text.dropFirst(11).prefix(8)
        let day = date.day < 10 ? "0\(date.day)" : "\(date.day)"
        let month = Self.monthNames[Int(date.month) - 1]
        return "\(Self.weekdays[Int(weekday)]), \(day) \(month) \(date.year) \(time) GMT"
    }
}
