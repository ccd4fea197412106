import Foundation
import TestSupport

/// Two workers on machines of their own are cut off again and again, from the database, from the
/// stores or from both, one or both of them, while the world goes on.
final class CutRun {
    private struct Worker {
        let host: Host
        let process: ChildProcess
    }

    /// Which wires of which workers.
    private struct Cut: CustomStringConvertible {
        let workers: [Int]
        let wires: [Host.Wire]

        static let all: [Cut] = [[0], [1], [0, 1]].flatMap { workers in
            [[.database], [.stores], [.database, .stores]].map { wires in
                Cut(workers: workers, wires: wires)
            }
        }

        var description: String {
            let who = workers.count == 2 ? "both workers" : "worker \(workers[0])"
            return "\(who) cut off from the \(wires.map(\.rawValue).joined(separator: " and the "))"
        }
    }

    private let stage: Stage
    private let watch: CommitWatch
    private let workers: [Worker]
    private var generator: SeededGenerator
    private var longest = Duration.zero

    /// Longer than a lease, a time-out of a call and a poll, on a machine with much to do.
    private static let patience = Duration.seconds(120)

    /// Makes each kind of cut so many times.
    ///
    /// - Returns: what was lost and doubled, and how long at most nothing was committed while one of
    ///   the workers was whole.
    static func play(seed: UInt64, rounds: Int) async throws -> (KillTally, longest: Duration) {
        let cluster = try await server()
        let database = try await cluster.newDatabase()
        var result = (KillTally(), longest: Duration.zero)
        try await onStage(database: database) { stage in
            let run = try await CutRun(on: stage, reaching: cluster.socketDirectory, seed: seed)
            do {
                result = try await run.play(rounds)
                run.close()
            } catch {
                let said = run.workers.map { $0.process.lines.suffix(30).joined(separator: "\n") }
                run.close()
                throw StageFailure("\(error)\n\(said.joined(separator: "\n\n"))")
            }
        }
        return result
    }

    private static func server() async throws -> ScratchCluster {
        let file = "/tmp/rw-hba-\(getpid())"
        try "local all all trust\nhost all all 10.78.0.0/16 trust\n"
            .write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        chmod(file, 0o644)
        return try await ScratchCluster(
            .init(settings: [
                "listen_addresses": "*", "port": String(try FreePort.next()), "hba_file": file,
            ]))
    }

    private init(on stage: Stage, reaching directory: String, seed: UInt64) async throws {
        self.stage = stage
        generator = SeededGenerator(seed: seed)
        try stage.configure(KillWorld.settings + "[engine]\nlease = \"PT15S\"", rate: 100)
        try stage.subscribe()
        watch = CommitWatch(stage.conninfo)
        let text = try String(contentsOfFile: stage.configurationFile, encoding: .utf8)
        var workers: [Worker] = []
        for number in 0..<2 {
            let host = try await Host(number)
            let file = "\(stage.folder)/worker-\(number).toml"
            try text.replacingOccurrences(of: directory, with: host.databaseAddress)
                .write(toFile: file, atomically: true, encoding: .utf8)
            workers.append(
                Worker(
                    host: host,
                    process: try stage.start(["run"], under: host.wrapper, configuration: file)))
        }
        self.workers = workers
    }

    private func close() {
        for worker in workers { worker.host.close() }
    }

    private func play(_ rounds: Int) async throws -> (KillTally, longest: Duration) {
        let load = Load(KillWorld(stage, renews: true, patience: Self.patience), watch, generator)
        let watch = watch
        let watching = Task { await watch.run() }
        defer { watching.cancel() }
        let working = Task { try await load.run() }
        do {
            try await waitUntilWhole()
            for _ in 0..<rounds {
                for cut in Cut.all.shuffled(using: &generator) { try await play(cut) }
            }
            await load.stop()
            try await working.value
        } catch {
            working.cancel()
            throw error
        }
        let found = try await tally(await load.world)
        for worker in workers {
            worker.process.send(SIGTERM)
            let exit = try await worker.process.exit()
            guard exit == .code(0) else { throw StageFailure("a worker ended with \(exit)") }
        }
        return (found, longest)
    }

    // MARK: A cut

    private func play(_ cut: Cut) async throws {
        await Poll.pause(.milliseconds(Int.random(in: 0...2000, using: &generator)))
        let probes = cut.workers.map { self.probes(of: $0) }
        let began = ContinuousClock.now
        for worker in cut.workers {
            for wire in cut.wires { try await workers[worker].host.cut(wire) }
        }
        let isWithoutDatabase = cut.wires.contains(.database)
        try await Poll.until("it shows: \(cut)", within: Self.patience) {
            guard isWithoutDatabase else {
                return zip(cut.workers, probes).allSatisfy { self.probes(of: $0) > $1 }
            }
            return try await owners() == (cut.workers.count == 2 ? [] : [256])
        }
        var told = "\(Poll.text(ContinuousClock.now - began)) s until it shows"
        if cut.workers.count == 1 {
            let before = watch.count
            try await Poll.until("the other one commits", within: Self.patience) {
                watch.count > before
            }
            let pause = watch.longestPause(since: began)
            longest = max(longest, pause)
            told += ", nothing committed for \(Poll.text(pause)) s"
        }
        print("partitions: \(cut): \(told)")
        for worker in cut.workers {
            for wire in cut.wires { try await workers[worker].host.mend(wire) }
        }
        try await waitUntilWhole()
        let broken = try await Audit.broken(stage.database)
        guard broken.isEmpty else { throw StageFailure("after \(cut): \(broken)") }
    }

    /// How many shards each of those has that have any, by their leases.
    private func owners() async throws -> [Int] {
        try await stage.value(
            """
            SELECT string_agg(count::text, ' ' ORDER BY count) FROM (
                SELECT count(*) FROM renewald.shard WHERE lease_until > now() GROUP BY owner
            ) AS owners
            """
        ).split(separator: " ").compactMap { Int($0) }
    }

    /// How often a worker has found that a store does not answer.
    private func probes(of worker: Int) -> Int {
        workers[worker].process.lines.count { $0.contains("single probes until it recovers") }
    }

    /// Waits until each has its half, and something is committed.
    private func waitUntilWhole() async throws {
        try await Poll.until("each worker has its half", within: Self.patience) {
            try await owners() == [128, 128]
        }
        let before = watch.count
        try await Poll.until("something is committed", within: Self.patience) {
            watch.count > before
        }
        for worker in workers {
            if let exit = worker.process.ended {
                throw StageFailure("a worker ended with \(exit)")
            }
        }
    }

    private func tally(_ world: KillWorld) async throws -> KillTally {
        try? await Poll.until("all is told", within: .seconds(300), every: .seconds(1)) {
            try await world.answer()
            return try await world.tally().lost == 0
        }
        let broken = try await Audit.broken(stage.database)
        guard broken.isEmpty else { throw StageFailure("in the end: \(broken)") }
        return try await world.tally()
    }
}
