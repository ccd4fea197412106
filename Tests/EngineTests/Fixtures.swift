import Logging
import Renewal

@testable import Engine

extension Timestamp {
    /// One of the database's, which a test does not care for.
    static let someTime = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)
}

/// Quick looks, long leases: what a test waits for comes at once.
func quickSettings(inFlight: Int = 8) -> EngineSettings {
    EngineSettings(
        inFlight: inFlight, poll: .milliseconds(5), lease: .seconds(600), batchLimit: 500,
        batchAge: .milliseconds(1), stopLimit: .seconds(20))
}

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

func inForce(_ claim: Claim) -> Answer {
    let end = claim.claimedAt + .days(30)
    return .verdict(
        Observation(
            environment: .production, status: .active,
            items: [Item(names: [claim.purchase.facts.product], expiresAt: end)], period: "1",
            paidThrough: end, expiresAt: end, willRenew: true))
}

func over(_ claim: Claim) -> Answer {
    let end = claim.purchase.facts.expiresAt ?? claim.claimedAt
    return .verdict(
        Observation(
            environment: .production, status: .ended(.userCancelled, at: end),
            items: [Item(names: [claim.purchase.facts.product], expiresAt: end)], period: "1",
            expiresAt: end, willRenew: false))
}

let outage = Answer.failure(.unreachable(reason: "time-out"))

/// Runs the engine for as long as `body` needs, then stops it in order.
func running(
    _ world: World, _ settings: EngineSettings, services: EngineServices? = nil,
    ask: @escaping @Sendable (Claim) async -> Answer,
    _ body: @escaping @Sendable () async throws -> Void
) async throws {
    let engine = RenewalEngine(settings, services ?? world.services(ask: ask), log: quiet)
    try await engine.run(while: body)
}

extension QueueMachine.Action {
    var isReservation: Bool { if case .reserve = self { true } else { false } }
}
