import Explain
import ArgumentParser
import Daemon
import FoundationEssentials
import Ledger
import Renewal

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

    mutating func run() async throws {
        let (follow, after, json) = (self.follow, self.after, self.json)
        try await common.withServices(asksStores: false) { services in
            let ledger = services.ledger
            var reader = EventReader(ledger: ledger, last: after ?? 0) { event throws in
                try Self.say(event, json)
            }
            guard follow else { return try await reader.readOn() }
            if after == nil { reader.last = try await ledger.lastEventID() }
            try await reader.follow(services.news(of: News.events))
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

    /// What the database keeps as JSON, whatever it is.
    private var detail: JSONValue {
        (try? JSONDecoder().decode(JSONValue.self, from: Data(event.detail.utf8))) ?? .object([:])
    }
}
