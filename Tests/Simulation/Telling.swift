// A run in words.
extension Report {
    /// How many customers' years it was.
    package var fleetYears: Double { Double(plan.days) / 365 }

    package var isClean: Bool { violations.isEmpty }

    package var line: String {
        let off = Feature.allCases.filter { !plan.features.has($0) }.map(\.rawValue)
        return "seed \(plan.seed): \(plan.fleet) customers, \(purchases) purchases, "
            + "\(plan.days) days, \(calls) calls, "
            + (off.isEmpty ? "everything on" : "without \(off.joined(separator: ", "))")
    }

    /// What came to be false, the first of each rule, with how often.
    package var faults: [String] {
        var seen: [String: Int] = [:]
        var first: [Violation] = []
        for violation in violations {
            if seen[violation.rule] == nil { first.append(violation) }
            seen[violation.rule, default: 0] += 1
        }
        return first.map {
            "\($0.rule) (\(seen[$0.rule] ?? 0) times): \($0.at.day) \($0.detail)"
        }
    }
}

/// What many runs have come to.
struct Sums {
    private(set) var runs = 0
    private(set) var years = 0.0
    private(set) var violations = 0
    private var purchases = 0
    private var tally: [Tally.What: Int] = [:]
    private var troubled: [Weather.Trouble: Int] = [:]

    mutating func add(_ report: Report) {
        runs += 1
        years += report.fleetYears
        violations += report.violations.count
        purchases += report.purchases
        tally.merge(report.tally, uniquingKeysWith: +)
        troubled.merge(report.troubled, uniquingKeysWith: +)
    }

    /// In words, after so many seconds.
    func lines(after seconds: Int) -> [String] {
        let perMinute = Double(runs * 600 / max(seconds, 1)) / 10
        return [
            "\(perMinute) seeds a minute, \(purchases) purchases",
            "trouble: " + counts(Weather.Trouble.allCases.map { ($0.rawValue, troubled[$0] ?? 0) }),
            "seen: " + counts(Tally.What.allCases.map { ($0.rawValue, tally[$0] ?? 0) }),
            "seeds \(runs), fleet-years \(Int(years)), violations \(violations)",
        ]
    }

    private func counts(_ counts: [(String, Int)]) -> String {
        counts.map { "\($0) \($1)" }.joined(separator: ", ")
    }
}
