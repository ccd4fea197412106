import Renewal

/// Ways to find out what has changed at a store, each over the same customers and the same month.
package struct LagTable {
    private let fleet: Int
    private let seed: UInt64
    private static let days = 90
    private static let month = Duration.days(30)

    package init(fleet: Int, seed: UInt64) {
        self.fleet = fleet
        self.seed = seed
    }

    /// The lines of the table, each as soon as it is there.
    package func print(_ tell: (String) -> Void) {
        let changes = LagFigures.Change.allCases.map { "\($0.rawValue) mean, p99" }
        tell(
            row(
                ["way"] + changes + [
                    "wrong access, h", "wrong denial, h", "questions a purchase",
                ]))
        tell(row(Array(repeating: "---", count: changes.count + 4)))
        let customers = customers(plan([]))
        for (name, job) in Self.jobs {
            tell(line(name, job.beliefs(about: customers, until: end), customers))
        }
        for (name, features) in Self.ways {
            let plan = plan(features)
            let report = Fleet.live(plan)
            precondition(report.violations.isEmpty, "\(report.faults)")
            tell(line(name, report.beliefs, customers))
        }
    }

    private static let jobs: [(String, OldJob)] = [
        ("a job each night", OldJob(interval: .days(1))),
        ("a job every six hours", OldJob(interval: .hours(6))),
        (
            "500 an hour, the latest end first",
            OldJob(interval: .hours(1), limit: 500, latestEndFirst: true)
        ),
    ]

    private static let ways: [(String, Set<Feature>)] = [
        ("renewald, when it is due", []),
        ("renewald, with spare calls", [.sweeps]),
        ("renewald, with news", [.hints]),
        ("renewald, with news and spare calls", [.sweeps, .hints]),
    ]

    private func plan(_ features: Set<Feature>) -> Plan {
        var plan = Plan(seed: seed, fleet: fleet, days: Self.days)
        plan.features = Features(
            on: features.union([.troubles, .pauses, .refunds, .changesOfMind]))
        plan.usualPoll = .seconds(10)
        plan.callsPerSecond = 10
        plan.usualSweepShare = 0.5
        plan.hasGoodNews = true
        plan.keepsBeliefs = true
        return plan
    }

    private func customers(_ plan: Plan) -> [Customer] {
        (0..<plan.fleet).map {
            Life.of($0, seed: plan.seed, features: plan.features, until: plan.end)
        }
    }

    private var end: Timestamp { World.start + .days(Self.days) }

    private func line(_ name: String, _ beliefs: Beliefs, _ customers: [Customer]) -> String {
        let figures = LagFigures(
            of: beliefs, about: customers, from: end - Self.month, to: end)
        let lags = LagFigures.Change.allCases.map { change in
            figures.lag(change).map { "\(words($0.mean)), \(words($0.p99))" } ?? "-"
        }
        let perThousand = 1000 / Double(fleet)
        let purchases = beliefs.ofToken.count
        return row(
            [name] + lags + [
                hours(figures.wrongAccess, perThousand), hours(figures.wrongDenial, perThousand),
                rounded(Double(figures.questions) / Double(purchases)),
            ])
    }

    private func hours(_ duration: Duration, _ factor: Double) -> String {
        rounded(duration / .hours(1) * factor)
    }

    private func rounded(_ number: Double) -> String {
        number < 100 ? "\((number * 10).rounded() / 10)" : "\(Int(number.rounded()))"
    }

    private func words(_ lag: Duration) -> String {
        let seconds = lag / .seconds(1)
        return switch seconds {
        case ..<120: "\(Int(seconds.rounded())) s"
        case ..<7200: "\(Int((seconds / 60).rounded())) min"
        case ..<172_800: "\(Int((seconds / 3600).rounded())) h"
        default: "\(rounded(seconds / 86_400)) days"
        }
    }

    private func row(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}
