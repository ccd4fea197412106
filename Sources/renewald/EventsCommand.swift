import ArgumentParser
import Daemon
import FoundationEssentials
import Ledger

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Prints or follows events.",
        discussion: """
            Example: renewald events --follow --after 4711 --json
            """)

    @OptionGroup var common: CommonOptions
    @Flag(help: "Go on with events as they are written.")
    var follow = false
    @Option(help: "Only events after this id; default is from the first, with --follow from now.")
    var after: Int64?
    @Flag(help: "Print JSON lines.")
    var json = false

    /// Most events read at once.
    private static let pageLimit = 1000

    mutating func run() async throws {
        let (follow, after, json) = (self.follow, self.after, self.json)
        try await common.withWorkshop(asksStores: false) { workshop in
            let news = follow ? workshop.news(of: News.events) : nil
            if let news { try await news.start() }
            var last = after ?? 0
            if follow, after == nil { last = try await workshop.ledger.lastEventID() }
            while true {
                let events = try await workshop.ledger.events(after: last, limit: Self.pageLimit)
                for event in events {
                    try Self.say(event, json)
                    last = event.id
                }
                if events.count == Self.pageLimit { continue }
                guard let news else { return }
                // NOTIFY makes it sooner; the limit is for a database where it is switched off.
                _ = try await news.next(timeout: .seconds(1))
            }
        }
    }

    private static func say(_ event: StoredEvent, _ json: Bool) throws {
        if json { return try Console.sayJSON(EventOutput(event)) }
        let about = event.entitlement.map { "\($0) " } ?? ""
        let until =
            event.kind == "revoke"
            ? " since \(event.effectiveAt.text)"
            : event.expiresAt.map { " until \($0.text)" } ?? ""
        try Console.say(
            "\(event.id)  \(event.createdAt.text)  \(event.kind) \(about)\(event.reason)  "
                + "\(event.userID)  \(event.store) \(event.product)\(until)")
    }
}

private struct EventOutput: Encodable {
    let event: StoredEvent

    init(_ event: StoredEvent) { self.event = event }

    private enum Key: String, CodingKey {
        case id, key, created_at, kind, reason, user_id, entitlement, purchase_id, store, app
        case environment, product, order_id, effective_at, expires_at, detail
    }

    func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: Key.self)
        try row.encode(event.id, forKey: .id)
        try row.encode(event.key, forKey: .key)
        try row.encode(event.createdAt.text, forKey: .created_at)
        try row.encode(event.kind, forKey: .kind)
        try row.encode(event.reason, forKey: .reason)
        try row.encode(event.userID, forKey: .user_id)
        try row.encode(event.entitlement, forKey: .entitlement)
        try row.encode(event.purchaseID, forKey: .purchase_id)
        try row.encode(event.store, forKey: .store)
        try row.encode(event.app, forKey: .app)
        try row.encode(event.environment, forKey: .environment)
        try row.encode(event.product, forKey: .product)
        try row.encode(event.orderID, forKey: .order_id)
        try row.encode(event.effectiveAt.text, forKey: .effective_at)
        try row.encode(event.expiresAt?.text, forKey: .expires_at)
        try row.encode(detail, forKey: .detail)
    }

    /// What the database keeps as JSON.
    private var detail: [String: DetailValue] {
        (try? JSONDecoder().decode(
            [String: DetailValue].self, from: Data(event.detail.utf8))) ?? [:]
    }

    private enum DetailValue: Codable {
        case text(String)
        case flag(Bool)

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let flag = try? value.decode(Bool.self) {
                self = .flag(flag)
            } else {
                self = .text(try value.decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .text(let text): try value.encode(text)
            case .flag(let flag): try value.encode(flag)
            }
        }
    }
}
