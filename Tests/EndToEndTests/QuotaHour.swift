import Foundation
import Synchronization
import TestSupport

/// A while in which three workers come and go before stores that count every call.
final class QuotaHour: Sendable {
    /// What the stores have counted.
    struct Found: CustomStringConvertible {
        /// Calls that were too many in any span of their quota.
        var refused = 0
        var calls = 0
        /// The part of all allowed calls that was made, by store.
        var used: [String: Double] = [:]
        var ends = Ends()

        var description: String {
            let shares = used.sorted { $0.key < $1.key }.map { store, share in
                "\(store) \((share * 1000).rounded() / 10) %"
            }
            return "\(ends); calls \(calls), refused \(refused), used "
                + shares.joined(separator: ", ")
        }
    }

    /// What has become of workers.
    struct Ends: CustomStringConvertible {
        var stops = 0
        var kills = 0
        var checks = 0

        var description: String {
            "stops \(stops), kills \(kills), checks \(checks)"
        }
    }

    /// Calls a second that the stores allow.
    private static let allowed = ["apple": 50, "google": 50, "amazon": 10]
    /// Google's quota is one of a minute.
    private static let quotas = [
        "apple=50/PT1S", "google=50/PT1S", "google=3000/PT1M", "amazon=10/PT1S",
    ]
    private static let workers = 3

    private let stage: Stage
    private let end: ContinuousClock.Instant
    private let ends = Mutex(Ends())

    private init(on stage: Stage, until end: ContinuousClock.Instant) {
        self.stage = stage
        self.end = end
    }

    /// - Parameters:
    ///   - seed: who ends when.
    ///   - time: how long.
    ///   - share: the part of what the stores allow that the configuration says.
    /// - Returns: what the stores have counted.
    /// - Throws: where a worker ends in another way than it should.
    static func play(
        seed: UInt64, for time: Duration, using share: Double
    ) async throws -> Found {
        var found = Found()
        try await onStage(simulating: quotas.flatMap { ["--quota", $0] }) { stage in
            try stage.configure("[engine]\nlease = \"PT15S\"")
            try stage.editConfiguration { text in
                allowed.reduce(text) { text, limit in
                    text.replacing(
                        "[store.\(limit.key)]\nrequests_per_second = 5000\n",
                        with: "[store.\(limit.key)]\nrequests_per_second = "
                            + "\(Double(limit.value) * share)\n")
                }
            }
            for (store, calls) in allowed {
                let made = try await stage.buy(store, count: calls * 40)
                try await stage.submit(made, store) { "\(store) \($0)" }
            }
            found = try await QuotaHour(on: stage, until: .now + time).run(seed)
        }
        return found
    }

    // MARK: All at once

    private func run(_ seed: UInt64) async throws -> Found {
        // Somebody is at work when the time begins.
        var workers: [ChildProcess] = []
        for _ in 0..<Self.workers { workers.append(try stage.daemon()) }
        try await stage.wait { try await self.stage.questions() > 0 }
        _ = try await stage.control("calls", nil, method: "DELETE")
        let start = ContinuousClock.now
        var found = Found()
        try await withThrowingTaskGroup(of: Void.self) { [workers] group in
            group.addTask { try await self.end(workers, SeededGenerator(seed: seed)) }
            group.addTask { try await self.ask(SeededGenerator(seed: seed &+ 1)) }
            group.addTask { try await self.keepDue() }
            try await group.waitForAll()
        }
        for (store, limit) in Self.allowed {
            let most = Double(limit) * ((.now - start) / .seconds(1))
            let calls = try await stage.calls(store)
            found.calls += calls
            found.used[store] = Double(calls) / most
        }
        found.refused = try await refused()
        found.ends = ends.withLock { $0 }
        return found
    }

    private var isOver: Bool { ContinuousClock.now >= end }

    private func rest(_ time: Duration) async { await Poll.pause(min(time, end - .now)) }

    // MARK: Workers

    /// Ends one worker after the other, each in a way of its own, and starts another in its place.
    private func end(_ started: [ChildProcess], _ seeded: SeededGenerator) async throws {
        var generator = seeded
        var workers = started
        while !isOver {
            await rest(.seconds(.random(in: 5..<25, using: &generator)))
            guard !isOver else { return }
            let place = Int.random(in: 0..<Self.workers, using: &generator)
            let child = workers[place]
            let isKilled = Bool.random(using: &generator)
            child.send(isKilled ? SIGKILL : SIGTERM)
            ends.withLock { ends in
                if isKilled { ends.kills += 1 } else { ends.stops += 1 }
            }
            let exit = try await child.exit(within: .seconds(60))
            guard [.code(0), .signal(SIGKILL)].contains(exit) else {
                throw StageFailure("\(exit): \(child.lines.suffix(12))")
            }
            await rest(.seconds(.random(in: 0..<3, using: &generator)))
            workers[place] = try stage.daemon()
        }
    }

    /// Somebody at a terminal asks about one user after the other.
    private func ask(_ seeded: SeededGenerator) async throws {
        var generator = seeded
        while !isOver {
            await rest(.seconds(.random(in: 10..<60, using: &generator)))
            let store = Self.allowed.keys.sorted().randomElement(using: &generator) ?? "apple"
            let checked = try await stage.renewald("check", "\(store) 0")
            guard [.code(0), .code(75)].contains(checked.exit) else {
                throw StageFailure("\(checked.exit): \(checked.standardError)")
            }
            ends.withLock { $0.checks += 1 }
        }
    }

    /// There is always more due than the stores may be asked.
    private func keepDue() async throws {
        while !isOver {
            await rest(.seconds(5))
            try await stage.script(
                """
                UPDATE renewald.schedule AS schedule SET due_at = now()
                FROM (
                    SELECT shard, id FROM renewald.schedule
                    WHERE due_at BETWEEN now() AND now() + interval '1 year'
                    FOR UPDATE SKIP LOCKED) AS later
                WHERE schedule.id = later.id AND schedule.shard = later.shard
                """)
        }
    }

    private struct Quotas: Decodable {
        struct Quota: Decodable {
            let refused: Int
        }
        let quotas: [Quota]
    }

    private func refused() async throws -> Int {
        try JSONDecoder().decode(Quotas.self, from: await stage.control("quotas", nil))
            .quotas.reduce(0) { $0 + $1.refused }
    }
}
