import ArgumentParser
import StoreSimulator

/// Where the running simulator is, and how to talk to it.
struct Simulated: ParsableArguments {
    @Option(help: "The folder that `storesim serve` was given.")
    var directory: String

    @Flag(help: "JSON also on a terminal; where output is no terminal it always is.")
    var json = false

    /// Sends a control call and prints what comes back.
    func send(
        _ method: String, _ path: String, _ members: [String: ControlClient.Value?] = [:]
    ) async throws {
        show(try await reply(method, path, members))
    }

    func reply(
        _ method: String, _ path: String, _ members: [String: ControlClient.Value?] = [:]
    ) async throws -> String {
        let client = try ControlClient(directory: directory)
        return try await client.send(method, "/control" + path, members.compactMapValues { $0 })
    }

    func show(_ reply: String) {
        print(json || !Table.isWanted ? reply : Table.text(ofJSON: reply))
    }
}

extension Optional where Wrapped == String {
    var member: ControlClient.Value? { map { .text($0) } }
}

extension Optional where Wrapped == Int {
    var member: ControlClient.Value? { map { .whole($0) } }
}

struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock", abstract: "Shows or moves the simulated clock.",
        discussion: "Example: storesim clock --directory /tmp/stores --advance P30DT1H")

    @OptionGroup var simulated: Simulated

    @Option(help: "An ISO 8601 duration to move forward by, such as P1M or PT12H.")
    var advance: String?

    @Option(help: "The time to set, such as 2026-02-01T00:00:00Z.")
    var set: String?

    @Option(help: "Simulated seconds in a second; 0 stands still.")
    var speed: Double?

    func run() async throws {
        if advance == nil, set == nil, speed == nil {
            return try await simulated.send("GET", "/clock")
        }
        try await simulated.send(
            "POST", "/clock",
            [
                "advance": advance.member, "set": set.member,
                "speed": speed.map { .fraction($0) },
            ])
    }
}

struct PurchaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purchase", abstract: "Buys a subscription and prints its token.",
        discussion: """
            Example: storesim purchase --directory /tmp/stores --store google \
            --product com.example.reader.pro --period P1M
            """)

    @OptionGroup var simulated: Simulated

    @Option(help: "apple, google or amazon.")
    var store: String

    @Option(help: "The product id.")
    var product: String

    @Option(help: "Bundle id or package name.")
    var app: String?

    @Option(help: "auto_renewable, non_renewing, non_consumable or consumable.")
    var kind: String?

    @Option(help: "Apple: purchases of one customer are answered together.")
    var customer: String?

    @Option(help: "The period that one charge pays for.")
    var period: String?

    @Option(help: "A free trial before the first charge.")
    var trial: String?

    @Option(help: "How long access goes on after a failed charge.")
    var grace: String?

    @Option(help: "How long the store tries to collect after grace.")
    var hold: String?

    @Option(help: "production or sandbox.")
    var environment: String?

    @Option(help: "How many to buy at once.")
    var count: Int?

    @Option(help: "When it was bought; default is now.")
    var start: String?

    @Option(help: "The account that the app set.")
    var user: String?

    func run() async throws {
        try await simulated.send(
            "POST", "/purchases",
            [
                "store": .text(store), "product": .text(product), "app": app.member,
                "period": period.member, "trial": trial.member, "grace": grace.member,
                "hold": hold.member, "environment": environment.member, "count": count.member,
                "start": start.member, "user": user.member, "kind": kind.member,
                "customer": customer.member,
            ])
    }
}

struct ActCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "act", abstract: "Does something to a purchase, now.",
        discussion: """
            Example: storesim act --directory /tmp/stores 1 fail_payment

            Actions: renew, cancel, uncancel, fail_payment, fix_payment, refund, refund_past, \
            reverse_refund, revoke, pause, resume, expire, change_product, complete, abandon.
            """)

    @OptionGroup var simulated: Simulated

    @Argument(help: "The purchase's number.")
    var purchase: Int

    @Argument(help: "What to do.")
    var action: String

    @Option(name: .customLong("for"), help: "How long to pause.")
    var length: String?

    @Option(help: "The product to change to.")
    var product: String?

    @Option(help: "`renewal` to change at the next renewal.")
    var when: String?

    func run() async throws {
        try await simulated.send(
            "POST", "/purchases/\(purchase)/\(action)",
            ["for": length.member, "product": product.member, "when": when.member])
    }
}

struct FaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault", abstract: "Makes stores fail; without a kind, lists the faults.",
        discussion: """
            Example: storesim fault --directory /tmp/stores status --store google --status 503

            Kinds: status, html, empty, cut, truncated, garbled, hang, reset, slow, \
            wrong_signature, expired_certificate, other_purchase, stale, ended, not_found, gone, \
            gone_once, throttle, quota_exhausted, unauthorized, receipt_status, token_down.
            """)

    @OptionGroup var simulated: Simulated

    @Argument(help: "How they fail.")
    var kind: String?

    @Flag(help: "Ends all faults.")
    var clear = false

    @Option(help: "Only this store.")
    var store: String?

    @Option(help: "Only this purchase.")
    var purchase: Int?

    @Option(help: "Only this app.")
    var app: String?

    @Option(help: "Only this endpoint, such as statuses, subscription or token.")
    var endpoint: String?

    @Option(help: "The status of `status`, `html` and `receipt_status`.")
    var status: Int?

    @Option(help: "The share of calls, from 0 to 1.")
    var share: Double?

    @Option(help: "Only so many calls.")
    var count: Int?

    @Option(name: .customLong("for"), help: "How long it lasts by the simulated clock.")
    var length: String?

    @Option(help: "When it begins by the simulated clock; default is now.")
    var at: String?

    @Option(help: "Milliseconds of delay: fixed 80, uniform 50 200, lognormal 80 2000.")
    var latency: String?

    @Option(help: "How old a stale answer is, such as P2D.")
    var age: String?

    @Option(help: "Seconds after which to come back.")
    var retryAfter: Int?

    @Option(help: "What the header says instead, such as an HTTP date.")
    var retryAfterText: String?

    func run() async throws {
        if clear { return try await simulated.send("DELETE", "/faults") }
        guard let kind else { return try await simulated.send("GET", "/faults") }
        try await simulated.send(
            "POST", "/faults",
            [
                "kind": .text(kind), "store": store.member, "app": app.member,
                "purchase": purchase.member, "endpoint": endpoint.member, "status": status.member,
                "share": share.map { .fraction($0) }, "count": count.member,
                "at": at.member, "for": length.member, "age": age.member,
                "latency": latency.member, "retry_after": retryAfter.member,
                "retry_after_text": retryAfterText.member,
            ])
    }
}

struct TruthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "truth", abstract: "Shows who is entitled to what.",
        discussion: "Example: storesim truth --directory /tmp/stores --at 2026-03-01T00:00:00Z")

    @OptionGroup var simulated: Simulated

    @Option(help: "At which instant; default is now.")
    var at: String?

    @Flag(help: "Only how many, by state and store.")
    var summary = false

    func run() async throws {
        let path = summary ? "/truth/summary" : "/truth"
        try await simulated.send("GET", path + (at.map { "?at=\($0)" } ?? ""))
    }
}

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a purchase, its charges and what was done to it.",
        discussion: "Example: storesim show --directory /tmp/stores 1")

    @OptionGroup var simulated: Simulated

    @Argument(help: "The purchase's number.")
    var purchase: Int

    func run() async throws { try await simulated.send("GET", "/purchases/\(purchase)") }
}

struct CallsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls", abstract: "Counts the calls to the stores.",
        discussion: "Example: storesim calls --directory /tmp/stores")

    @OptionGroup var simulated: Simulated

    func run() async throws { try await simulated.send("GET", "/calls") }
}

struct QuitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quit", abstract: "Ends a running simulator.",
        discussion: "Example: storesim quit --directory /tmp/stores")

    @OptionGroup var simulated: Simulated

    func run() async throws { try await simulated.send("POST", "/quit") }
}
