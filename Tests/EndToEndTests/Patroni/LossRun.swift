import Foundation
import Postgres
import TestSupport

/// The leader of a cluster is lost again and again while two workers are at work and the world goes
/// on: one worker comes by way of HAProxy, the other knows all three servers.
final class LossRun {
    private let stage: Stage
    private let cluster: PatroniCluster
    private let watch: CommitWatch
    private let workers: [ChildProcess]
    private var generator: SeededGenerator
    private var pauses: [Duration] = []

    private static let patience = Duration.seconds(180)

    /// Plays so many losses.
    static func play(
        seed: UInt64, losses: Int, in folder: String
    ) async throws -> (found: KillTally, longest: Duration) {
        let cluster = try await PatroniCluster(in: folder)
        do {
            let result = try await play(seed: seed, losses: losses, on: cluster)
            await cluster.close()
            return result
        } catch {
            let log = cluster.log
            await cluster.close()
            throw StageFailure("\(error)\n\(log)")
        }
    }

    private static func play(
        seed: UInt64, losses: Int, on cluster: PatroniCluster
    ) async throws -> (found: KillTally, longest: Duration) {
        let first = PostgresConnection(PostgresSettings(conninfo: PatroniCluster.conninfo()))
        try await first.script("CREATE DATABASE app")
        await first.close()
        var found = KillTally()
        var longest = Duration.zero
        let conninfo = PatroniCluster.conninfo(database: "app")
        try await onStage(database: conninfo) { stage in
            let run = try await Self(on: stage, cluster, seed: seed)
            (found, longest) = try await run.play(losses)
        }
        return (found, longest)
    }

    private init(on stage: Stage, _ cluster: PatroniCluster, seed: UInt64) async throws {
        self.stage = stage
        self.cluster = cluster
        generator = SeededGenerator(seed: seed)
        try await stage.script(
            """
            CREATE ROLE renewald LOGIN PASSWORD 'change-me-worker' IN ROLE renewald_worker
            """)
        try stage.configure(KillWorld.settings, rate: 100_000)
        try stage.subscribe()
        let latency = Int.random(in: 0...40, using: &generator)
        try await stage.control("latency", #"{"milliseconds":\#(latency)}"#)
        let text = try String(contentsOfFile: stage.configurationFile, encoding: .utf8)
        watch = CommitWatch(PatroniCluster.conninfo(database: "app"))
        workers = try [PatroniCluster.throughProxy, PatroniCluster.direct].enumerated().map {
            let file = "\(stage.folder)/worker-\($0.offset).toml"
            try text.replacingOccurrences(of: stage.conninfo, with: $0.element)
                .write(toFile: file, atomically: true, encoding: .utf8)
            return try stage.start(["run"], configuration: file)
        }
    }

    private func play(_ losses: Int) async throws -> (KillTally, Duration) {
        let load = Load(KillWorld(stage, renews: true, patience: Self.patience), watch, generator)
        let watch = watch
        let watching = Task { await watch.run() }
        defer { watching.cancel() }
        let working = Task { try await load.run() }
        do {
            try await Poll.until("something is committed", within: .seconds(60)) {
                watch.count > 20
            }
            for number in 1...losses { try await lose(number, of: losses) }
            await load.stop()
            try await working.value
        } catch {
            working.cancel()
            throw error
        }
        let world = await load.world
        let found = try await heal(world)
        try await report(world)
        for worker in workers {
            worker.send(SIGTERM)
            let exit = try await worker.exit()
            guard exit == .code(0) else { throw StageFailure("a worker ended with \(exit)") }
        }
        return (found, pauses.max() ?? .zero)
    }

    // MARK: A loss

    /// All kinds take turns, in another order each time.
    private var kinds: [Loss] = []

    private func lose(_ number: Int, of losses: Int) async throws {
        if kinds.isEmpty { kinds = Loss.allCases.shuffled(using: &generator) }
        let loss = kinds.removeLast()
        // Any moment of the load.
        await Poll.pause(.milliseconds(Int.random(in: 0...2000, using: &generator)))
        guard let before = watch.latest else { throw StageFailure("nothing was seen") }
        let leader = try cluster.leader(at: before.server)
        try await cluster.lose(leader, by: loss)
        let watch = watch
        try await Poll.until(
            "another than \(leader.name) commits after \(loss)", within: .seconds(120)
        ) {
            watch.pause(after: before.server) != nil
        }
        guard let pause = watch.pause(after: before.server) else { return }
        pauses.append(pause)
        let told = "\(loss) (\(leader.name)), pause \(Poll.text(pause)) s"
        print("failover: \(number) of \(losses): \(told)")
        try await cluster.bringBack(leader, from: loss)
        try await cluster.waitUntilWhole()
        try await audit("after \(loss)")
        for worker in workers {
            if let exit = worker.ended { throw StageFailure("a worker ended with \(exit)") }
        }
    }

    private func audit(_ when: String) async throws {
        let connection = PostgresConnection(
            PostgresSettings(conninfo: stage.conninfo, statementTimeout: .seconds(30)))
        let broken = try await Audit.broken(connection)
        await connection.close()
        guard broken.isEmpty else { throw StageFailure("\(when): \(broken)") }
    }

    // MARK: The end

    /// Nothing is lost any more: what is missing then, is missing for good.
    private func heal(_ world: KillWorld) async throws -> KillTally {
        // News is read each minute, and who was sending an answer is taken for dead after two.
        try? await Poll.until("all is told", within: .seconds(300), every: .seconds(1)) {
            try await world.answer()
            return try await world.tally().lost == 0
        }
        // Whoever has all that is true says nothing more.
        let now = try await stage.value("SELECT now()")
        try await stage.script("UPDATE renewald.schedule SET due_at = now()")
        try await Poll.until("all is checked again", within: .seconds(120)) {
            try await stage.value(
                "SELECT count(*) FROM renewald.schedule WHERE checked_at < '\(now)'") == "0"
        }
        try await audit("in the end")
        return try await world.tally()
    }

    private func report(_ world: KillWorld) async throws {
        let waited = try await stage.value(
            """
            SELECT round(extract(epoch FROM max(event.created_at - purchase.created_at)), 1)
            FROM renewald.events AS event
            JOIN renewald.purchases AS purchase ON purchase.id = event.purchase_id
            WHERE event.reason = 'purchased'
            """)
        let events = try await stage.events()
        print(
            "failover: \(world.buyers) purchases, \(events) events; "
                + "the longest from a submission to its grant: \(waited) s")
    }
}
