import Foundation
import TestSupport

/// One chapter of kills, on a stage of its own: the world goes on, programs and the server are
/// killed at random instants, and after each kill the database is looked through. In some chapters
/// the breaker trips, and what it holds is released.
///
/// The seed chooses what happens and who is killed when. What a program has done by then depends on
/// the machine, so that the same seed is the same story with other wounds.
struct KillRun {
    /// What is killed in a round.
    private enum Mode: CaseIterable {
        case daemon, onePass, twoDaemons, daemonAndPass, oneUser, release
        /// A worker stands still past its lease while another is at work, and goes on then.
        case frozen
        /// The network to the database does the same: what a worker sent arrives late.
        case stalled
        case server
    }

    private static let release = ["release", "--yes"]

    private let stage: Stage
    private var world: KillWorld
    private var generator: SeededGenerator
    private var tally = KillTally()
    /// How long a pass takes that is not killed, here and now.
    private var pass = Duration.seconds(1)

    /// Plays a chapter of so many kills.
    static func play(seed: UInt64, kills: Int) async throws -> KillTally {
        var result = KillTally()
        try await onStage(from: "2026-01-01T00:00:00Z") { stage in
            var run = try await Self(on: stage, seed: seed)
            while run.tally.kills < kills { try await run.round() }
            result = try await run.heal()
        }
        return result
    }

    private init(on stage: Stage, seed: UInt64) async throws {
        self.stage = stage
        world = KillWorld(stage)
        generator = SeededGenerator(seed: seed)
        try stage.configure(
            """
            [refunds]
            answer = "app"
            customer_consented = true
            [engine]
            lease = "PT15S"
            in_flight = 50
            [safety]
            breaker_floor = \(Int.random(in: 2...200, using: &generator))
            """, rate: 100_000)
        try stage.editConfiguration {
            $0.replacingOccurrences(
                of: "/google.json\"\n",
                with:
                    "/google.json\"\npubsub_subscription = \"projects/storesim/subscriptions/play\"\n"
            )
        }
        // Half a moment between what a store has done and what a program knows of it.
        let latency = Int.random(in: 0...40, using: &generator)
        try await stage.control("latency", #"{"milliseconds":\#(latency)}"#)
        try await once()
        try await world.turn(using: &generator)
        let start = ContinuousClock.now
        try await once()
        pass = ContinuousClock.now - start
    }

    // MARK: A round

    private mutating func round() async throws {
        let mode = Mode.allCases.randomElement(using: &generator) ?? .daemon
        switch mode {
        case .daemon: try await kill([["run"]])
        case .onePass: try await kill([["once"]])
        case .twoDaemons: try await kill([["run"], ["run"]])
        case .daemonAndPass: try await kill([["run"], ["once"]])
        case .oneUser:
            let user = world.anybody(using: &generator) ?? "nobody"
            try await kill([["run"], ["check", user]])
        case .release: try await kill([["run"], Self.release])
        case .frozen: try await freeze()
        case .stalled: try await stall()
        case .server: try await killServer()
        }
        // Leases run out, news is due again, and who was sending is taken for dead.
        try await stage.pass("PT5M")
        let broken = try await Audit.broken(stage.database)
        guard broken.isEmpty else { throw StageFailure("after \(mode): \(broken)") }
    }

    /// The world goes on while they work and are killed.
    private mutating func kill(_ commands: [[String]]) async throws {
        let children = try commands.map { try stage.start($0) }
        for child in children { child.send(SIGKILL, after: moment()) }
        try await world.turn(using: &generator)
        for child in children { try await count(child) }
    }

    private mutating func freeze() async throws {
        try await world.turn(using: &generator)
        let frozen = try stage.daemon()
        await Poll.pause(moment())
        frozen.send(SIGSTOP)
        try await stage.pass("PT5M")
        // The other may still hold locks: then this one ends without its work.
        try await expectEnd(of: try stage.start(["once"]), orIn: 69)
        frozen.send(SIGCONT)
        frozen.send(SIGKILL, after: moment())
        try await count(frozen)
    }

    private mutating func stall() async throws {
        try await world.turn(using: &generator)
        let network = try await StallingNetwork(before: stage.conninfo, in: stage.folder)
        defer { network.close() }
        let file = "\(stage.folder)/stalling.toml"
        try String(contentsOfFile: stage.configurationFile, encoding: .utf8)
            .replacingOccurrences(of: stage.conninfo, with: network.conninfo)
            .write(toFile: file, atomically: true, encoding: .utf8)
        let cutOff = try stage.start(["run"], configuration: file)
        await Poll.pause(moment())
        network.stall()
        try await stage.pass("PT5M")
        // The other may still hold locks: then this one ends without its work.
        try await expectEnd(of: try stage.start(["once"]), orIn: 69)
        network.goOn()
        cutOff.send(SIGKILL, after: moment())
        try await count(cutOff)
    }

    private mutating func killServer() async throws {
        try await world.turn(using: &generator)
        let daemon = try stage.daemon()
        await Poll.pause(moment())
        try await stage.restartDatabase()
        tally.kills += 1
        daemon.send(SIGKILL, after: moment())
        try await count(daemon)
    }

    // MARK: The end

    /// Nobody is killed any more: what is missing then, is lost.
    private mutating func heal() async throws -> KillTally {
        for _ in 0..<20 {
            try await stage.pass("PT10M")
            try await once()
            try await world.answer()
            try await expectEnd(of: try stage.start(Self.release))
            try await checkWhatIsSetAside()
            let found = try await world.tally()
            if found.lost == 0 { break }
        }
        // Whoever has all that is true says nothing more.
        try await stage.pass("PT10M")
        try await once()
        var found = try await world.tally()
        found.kills = tally.kills
        for row in found.lost == 0 ? [] : try await unsettled() { print("crash: \(row)") }
        let broken = try await Audit.broken(stage.database)
        guard broken.isEmpty else { throw StageFailure("in the end: \(broken)") }
        return found
    }

    /// What was in hand at five kills, the last three times alone, counts as what makes the process
    /// crash. It is set aside, which is told: the operator does what `doctor` says.
    private func checkWhatIsSetAside() async throws {
        let users = try await stage.value(
            """
            SELECT string_agg(user_id, ' ') FROM renewald.purchases
            WHERE problem LIKE 'set_aside: the process crashed%'
            """)
        for user in users.split(separator: " ").map(String.init) {
            print("crash: \(user) was in hand at five kills and is set aside: check \(user)")
            try await expectEnd(of: try stage.start(["check", user]))
        }
    }

    /// What has no answer yet, or something is wrong with: where to look for what is lost.
    private func unsettled() async throws -> [String] {
        try await stage.value(
            """
            SELECT string_agg(concat_ws(' ', purchase.user_id, purchase.state,
                'made', purchase.created_at, 'checked', schedule.checked_at,
                'due', schedule.due_at, 'attempts', schedule.attempts, 'crashes', schedule.crashes,
                'leased until', shard.lease_until, 'now', now(), schedule.problem), E'\n')
            FROM renewald.purchase JOIN renewald.schedule USING (shard, id)
            JOIN renewald.shard USING (shard)
            WHERE schedule.problem IS NOT NULL OR schedule.checked_at IS NULL
            """
        ).split(separator: "\n").map(String.init)
    }

    // MARK: Helpers

    private func once() async throws {
        try await expectEnd(of: try stage.start(["once"]))
    }

    private func expectEnd(of pass: ChildProcess, orIn code: Int32 = 0) async throws {
        let exit = try await pass.exit(within: .seconds(120))
        guard [.code(0), .code(75), .code(code)].contains(exit) else {
            throw StageFailure("a pass ended with \(exit): \(pass.standardError)")
        }
    }

    /// Waits for its end, which is a kill unless the work was done before.
    private mutating func count(_ child: ChildProcess) async throws {
        let exit = try await child.exit(within: .seconds(60))
        switch exit {
        case .signal(SIGKILL): tally.kills += 1
        case .code(0), .code(75): break
        case .code, .signal: throw StageFailure("\(exit): \(child.lines.suffix(12))")
        }
    }

    /// Any time from the start of a program until long after it has found its work.
    private mutating func moment() -> Duration {
        pass * Double.random(in: 0..<2, using: &generator)
    }
}
