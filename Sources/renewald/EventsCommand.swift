import Explain
import ArgumentParser
import Daemon
import Ledger
import Renewal

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Prints events, or follows them.",
        discussion: """
            Oldest first, one line each.

            Example: renewald events --follow --after 4711 --json
            """)

    @OptionGroup var common: CommonOptions
    @Flag(help: "Keep printing events as they are written.")
    var follow = false
    @Option(help: "Only events after this id. Default: all; with --follow, only new ones.")
    var after: Int64?
    @Flag(help: "Print JSON lines.")
    var json = false

    mutating func run() async throws {
        let (follow, after, json) = (self.follow, self.after, self.json)
        try await common.withServices(asksStores: false, readsTokens: false) { services in
            let ledger = services.ledger
            var reader = EventReader(ledger: ledger, last: after ?? 0) { event throws in
                try Self.say(event, json)
                try Console.requireReader()
            }
            guard follow else { return try await reader.readOn() }
            if after == nil { reader.last = try await ledger.lastEventID() }
            try await reader.follow(services.news(of: NotifyListener.events))
        }
    }

    private static func say(_ event: StoredEvent, _ json: Bool) throws {
        if json { return try Console.say(json: EventJSON(event).line()) }
        let about = event.entitlement.map { "\($0) " } ?? ""
        let until =
            event.kind == "revoke"
            ? " since \(event.effectiveAt.text)"
            : event.expiresAt.map { " until \($0.text)" } ?? ""
        try Console.say(
            "\(event.id)  \(event.createdAt.text)  \(event.kind) \(about)\(event.reason)  "
                + "\(event.userID?.text ?? "-")  \(event.store) "
                + "\(event.product?.text ?? event.app.text)\(until)")
    }
}
