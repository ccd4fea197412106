import Engine
import LedgerModel
import Renewal
import Synchronization
import TestSupport

/// What a run has come to.
package struct Report: Sendable {
    package let plan: Plan
    package let digest: UInt64
    package let violations: [Violation]
    package let purchases: Int
    package let calls: Int
    let tally: [Tally.What: Int]
    let troubled: [Weather.Trouble: Int]
    /// What happened to the customers of a small plan, step by step.
    let story: [String]
    /// What was forecast and what was lived, where that was asked for.
    let comparison: Comparison?
    /// What the ledger believed.
    let beliefs: Beliefs
}

/// One run: a fleet, its store, its database, its workers, and who judges them.
package struct Fleet: Sendable {
    private let plan: Plan
    private let customers: [Customer]
    private let weather: Weather
    private let store: SimulatedStore
    private let ledger: ModelLedger
    private let tally = Tally()
    private let judge: Judge
    private let diary: Diary
    private let believer = Believer()
    private let workers = Mutexed<[Worker]>([])

    private static let stepLimit: UInt64 = 200_000_000

    private init(_ plan: Plan) {
        self.plan = plan
        customers = (0..<plan.fleet).filter { plan.only?.contains($0) ?? true }.map {
            Life.of($0, seed: plan.seed, features: plan.features, until: plan.end)
        }
        let weather = Weather(plan)
        self.weather = weather
        store = SimulatedStore(customers, weather, plan)
        ledger = ModelLedger(now: {
            World.now + (weather.active(.clock, at: World.now)?.amount ?? .zero)
        })
        judge = Judge(store.sold, weather, plan, tally)
        var breakage = ModelLedger.Breakage()
        breakage.hasNoFence = plan.sabotage == .fence || plan.sabotage == .twice
        breakage.hasNoRow = plan.sabotage == .quota
        if plan.sabotage == .starve { breakage.hidden = { $0 % 100 == 7 } }
        ledger.breaks(breakage)
        let diary = Diary(store.sold)
        self.diary = diary
        ledger.tell { [judge, believer] in
            judge.judge($0)
            diary.note($0)
            if plan.keepsBeliefs { believer.note($0) }
        }
    }

    /// Lives the plan from its beginning to its end.
    package static func live(_ plan: Plan) -> Report {
        let fleet = Fleet(plan)
        let (digest, hasEnded) = World.run(seed: plan.seed, atMost: stepLimit) {
            await fleet.live()
        }
        if !hasEnded { fleet.judge.accuse("it comes to an end", "too many jobs") }
        return Report(
            plan: plan, digest: digest, violations: fleet.judge.violations,
            purchases: fleet.store.sold.count, calls: fleet.store.calls, tally: fleet.tally.all,
            troubled: fleet.troubled, story: fleet.judge.story,
            comparison: fleet.diary.comparison, beliefs: fleet.believer.beliefs)
    }

    /// Calls that met trouble of the store's, and times of the database's.
    private var troubled: [Weather.Trouble: Int] {
        store.troubled.merging(weather.counts.filter { !$0.key.isOfStore }) { $1 }
    }

    private func live() async {
        do {
            try store.open()
        } catch {
            judge.accuse("the store opens", "\(error)")
        }
        await withDiscardingTaskGroup { group in
            for number in 0..<plan.workerCount {
                group.addTask { await keep(number) }
            }
            group.addTask { await submit() }
            group.addTask { await look() }
            if let foresight = plan.foresight {
                await diary.keep(foresight, plan, ledger, store)
                group.cancelAll()
            } else {
                await World.wait(until: plan.end)
            }
            for worker in workers.with({ $0 }) { worker.end() }
        }
    }

    // MARK: Workers

    /// Starts a worker again whenever it has been killed or stopped.
    private func keep(_ number: Int) async {
        await withDiscardingTaskGroup { group in
            for (life, absence) in plan.absences(of: number).enumerated() {
                let worker = worker(number)
                let services = services(worker, life)
                group.addTask { await worker.run(plan.settings, services) }
                for stall in plan.stalls(of: number, life) where stall.from < absence.from {
                    await World.wait(until: stall.from)
                    tally.count(.stall)
                    worker.stall(until: stall.to)
                }
                await World.wait(until: absence.from)
                guard absence.from < plan.end else { return }
                let ending = plan.ending(of: number, life)
                var chance = SeededGenerator(plan.seed, "doors \(number)", life)
                let doors = 1 + chance.below(60)
                if ending.isStopped { worker.stop(afterDoors: doors) }
                if ending.isKilled {
                    worker.kill(afterDoors: doors + (ending.isStopped ? chance.below(20) : 0))
                }
                await World.wait(until: absence.to)
                guard World.now < plan.end else { return }
            }
        }
    }

    private func worker(_ number: Int) -> Worker {
        let worker = Worker(number, tally)
        workers.with { $0.append(worker) }
        return worker
    }

    private func services(_ worker: Worker, _ life: Int) -> EngineServices {
        let chance = SeededGenerator(plan.seed, "worker \(worker.number)", life)
        let ledger = WorkerLedger(
            base: ledger, worker: worker, weather: weather, plan: plan, tally: tally,
            chance: Mutexed(chance))
        return EngineServices(
            ledger: ledger,
            stores: WorkerStores(store: store, worker: worker, judge: judge, plan: plan),
            hintStore: ledger, sweepStore: plan.features.has(.sweeps) ? ledger : nil,
            workerName: "worker \(worker.number)")
    }

    // MARK: Everybody else

    /// The apps' backend.
    private func submit() async {
        let submissions = customers.flatMap(\.submissions).filter { $0.at < plan.end }
            .sorted { ($0.at, $0.token) < ($1.at, $1.token) }
        for submission in submissions {
            await World.wait(until: submission.at)
            guard !Task.isCancelled else { return }
            ledger.submit(
                submission.user, SimulatedStore.app, product: submission.product,
                token: submission.token)
        }
    }

    private func look() async {
        while World.now + .hours(12) < plan.end, !Task.isCancelled {
            await World.wait(for: .hours(12))
            judge.look(at: ledger)
        }
        let limit = Int(plan.callsPerSecond * Double(SimulatedStore.window.components.seconds)) + 1
        if store.mostCalls > limit {
            judge.accuse(
                "no quota exceeded", "\(store.mostCalls) calls in ten seconds of \(limit)")
        }
    }
}
