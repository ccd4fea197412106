import FoundationEssentials

/// The bodies of control calls. Names on the wire are in snake case.
struct ClockRequest: Decodable {
    var advance: String?
    var set: String?
    /// Simulated seconds in a second; 0 stands still.
    var speed: Double?
}

struct PurchaseRequest: Decodable {
    var store: String
    var app: String?
    var product: String
    var period: String?
    var trial: String?
    var grace: String?
    var hold: String?
    var renewsBefore: String?
    var environment: String?
    var count: Int?
    var start: String?
    var user: String?
    var customer: String?
    var group: String?
    var replaces: Int?
    var pending: Bool?
    /// `auto_renewable` where nothing else is said.
    var kind: String?
    var offer: OfferRequest?
    /// Google: `renewing`, `prepaid` or `installments`, the last with a number of payments. Apple:
    /// `renewing` or `commitment`, with one too, twelve where nothing else is said.
    var plan: String?
    var payments: Int?
    var quantity: Int?
    /// Google: false for a purchase that the seller must acknowledge in time.
    var acknowledged: Bool?
    var acknowledgeWithin: String?
    var addOns: [String]?
    /// Apple: so many seats, items by their SKU, a `type` that is not known.
    var seats: Int?
    var skus: [String]?
    var type: String?
    /// Apple: `purchased`, `family_shared` or `assigned`.
    var ownership: String?
    /// Amazon: bought in Live App Testing.
    var beta: Bool?
    /// Google: the ended purchase that this one is made again from, in Play.
    var resubscribes: Int?
    /// `renewal`: what is replaced goes on until then; only Google.
    var when: String?
    /// Apple: the answer has the legacy receipts.
    var receipts: Bool?
    /// Google and Amazon: the buyer's country.
    var country: String?
    /// Google: what a period costs, such as `6.99`.
    var price: String?
    var currency: String?
    var basePlan: String?
    var offerTags: [String]?
    var profile: String?
    var linkedAccount: String?
    /// Amazon: the subscriptions that this one is an add-on of.
    var bases: [Int]?
}

struct OfferRequest: Decodable {
    var kind: String?
    var discount: String?
    var period: String?
    var cycles: Int?
    var id: String?
}

struct DeedRequest: Decodable {
    var `for`: String?
    var product: String?
    /// `renewal`: the product changes at the next renewal.
    var when: String?
    /// What one charge of the new product pays for.
    var period: String?
    /// The store's own number for why something is given back, or renewal is turned off.
    var reason: Int64?
    /// Google: its number for who wanted a refund.
    var source: Int64?
    /// Google: why renewal is turned off, in the customer's words.
    var comment: String?
    var quantity: Int?
    /// Google: how much of the money goes back, 0 to 1.
    var share: Double?
    /// Of the charge before the newest one.
    var past: Bool?
    /// Amazon: `FULFILLED`, `UNAVAILABLE` and so on.
    var result: String?

    var why: Why { Why(reason: reason, source: source, comment: comment) }
}

struct LatencyRequest: Decodable {
    var milliseconds: Int64
}

/// Why a control call is refused, in words for a person.
struct ControlError: Error {
    var status = 400
    var message: String

    init(_ message: String, status: Int = 400) {
        self.status = status
        self.message = message
    }

    var reply: Reply {
        Reply(status, .object { $0.member("error", message) })
    }
}

extension Route {
    /// A control call under `/control`. They are unauthenticated: the simulator listens on loopback
    /// only.
    static func control(
        _ method: String, _ path: String,
        _ handler: @escaping @Sendable (Request) throws(ControlError) -> Reply
    ) -> Route {
        Route(method, "/control/" + path) { request in
            do throws(ControlError) {
                return try handler(request)
            } catch {
                return error.reply
            }
        }
    }
}

extension Reply {
    /// What a control call says that has nothing to tell.
    static var done: Reply { Reply(200, .object { $0.member("ok", true) }) }

    /// The number of what was made.
    static func made(id: Int) -> Reply { Reply(200, .object { $0.member("id", id) }) }
}

extension SharedWorld {
    /// The number of an existing purchase, as it stands in a path.
    func purchase(named text: String) throws(ControlError) -> Int {
        guard let number = Int(text), withLock({ $0.has(number) }) else {
            throw ControlError("there is no such purchase", status: 404)
        }
        return number
    }
}

enum ControlReader {
    /// The body as `type`; an empty body is an empty object.
    static func read<Body: Decodable>(
        _ type: Body.Type, _ bytes: [UInt8]
    ) throws(ControlError) -> Body {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do {
            return try decoder.decode(type, from: Data(bytes.isEmpty ? Array("{}".utf8) : bytes))
        } catch let DecodingError.keyNotFound(key, _) {
            throw ControlError("\(key.stringValue) is missing")
        } catch let DecodingError.typeMismatch(_, context) {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw ControlError("\(path) has the wrong type")
        } catch {
            throw ControlError("the body is not a JSON object")
        }
    }

    static func period(_ text: String?, _ name: String) throws(ControlError) -> Period? {
        guard let text else { return nil }
        guard let period = Period(text: text) else {
            throw ControlError("\(name) is not an ISO 8601 duration such as P1M or PT12H")
        }
        return period
    }

    static func instant(_ text: String?, _ name: String) throws(ControlError) -> Instant? {
        guard let text else { return nil }
        guard let instant = Instant(text: text) else {
            throw ControlError("\(name) is not a time such as 2026-01-31T12:00:00Z")
        }
        return instant
    }

    static func store(_ text: String) throws(ControlError) -> StoreName {
        guard let store = StoreName(rawValue: text) else {
            throw ControlError("store is not apple, google or amazon")
        }
        return store
    }

    /// The deed that an action's name and body say, for a purchase of `store`.
    static func deed(
        _ action: Substring, _ request: DeedRequest, _ store: StoreName
    ) throws(ControlError) -> Deed {
        switch action {
        case "renew": return .renew
        case "cancel": return .cancel
        case "uncancel": return .uncancel
        case "fail_payment": return .failPayment
        case "fix_payment": return .fixPayment
        case "refund": return .refund
        case "refund_past": return .refundPast
        case "reverse_refund": return .reverseRefund
        case "revoke": return .revoke
        case "resume": return .resume
        case "expire": return .expire
        case "complete": return .complete
        case "abandon": return .abandon
        case "pause": return .pause(try period(request.for, "for") ?? .days(30))
        case "acknowledge": return .acknowledge
        case "consume": return .consume
        case "ask_price": return .askPrice
        case "accept_price": return .acceptPrice
        case "withdraw": return .withdraw
        case "charge_back": return .chargeBack
        case "refund_money": return .refundMoney
        case "refund_part": return .refundPart(quantity: request.quantity ?? 1)
        case "refund_share":
            let share = request.share ?? 0.5
            guard share > 0, share <= 1 else { throw ControlError("share is not within 0 and 1") }
            return .refundShare(
                Int64((share * 10_000).rounded()), isPast: request.past ?? false)
        case "fulfil": return .fulfil(result: request.result ?? "FULFILLED")
        case "close_account": return .closeAccount
        case "extend": return .extend(try period(request.for, "for") ?? .days(30))
        case "add_item": return .addItem(product: try product(request))
        case "remove_item": return .removeItem(product: try product(request))
        case "revoke_item": return .revokeItem(product: try product(request))
        case "add_seats": return .addSeats(request.quantity ?? 1)
        case "refund_seats": return .refundSeats(request.quantity ?? 1)
        case "refund_item": return .refundSKU(try product(request))
        case "migrate": return .migrate
        case "change_product":
            let product = try product(request)
            let isLater = request.when == "renewal"
            let period = try period(request.period, "period")
            switch (store, isLater) {
            case (.google, _), (.amazon, false): return .supersede
            case (.apple, false): return .upgrade(product: product, period: period)
            case (.apple, true), (.amazon, true):
                return .changeAtRenewal(product: product, period: period)
            }
        default: throw ControlError("there is no such action", status: 404)
        }
    }

    private static func product(_ request: DeedRequest) throws(ControlError) -> String {
        guard let product = request.product else { throw ControlError("product is missing") }
        return product
    }
}
