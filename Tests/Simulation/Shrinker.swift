import Renewal

/// Makes a failing run small: fewer customers, less that may happen, fewer days, as long as the same
/// rule is still broken.
package struct Shrinker {
    private let rule: String
    private(set) var plan: Plan
    private(set) var report: Report

    /// Runs that one failure is worth.
    private var runsLeft: Int

    /// Nil where nothing has failed.
    package init?(_ report: Report, runs: Int) {
        guard let first = report.violations.first else { return nil }
        rule = first.rule
        plan = report.plan
        runsLeft = runs
        self.report = report
    }

    package mutating func shrink() {
        leaveOutCustomers()
        if let last = report.violations.first(where: { $0.rule == rule }) {
            let days = Int((last.at - World.start).components.seconds / 86_400) + 2
            attempt { $0.days = min($0.days, days) }
        }
        for feature in plan.features.list {
            attempt { $0.features = $0.features.without(feature) }
        }
    }

    /// The one whose purchase it was, or halves and quarters of them all.
    private mutating func leaveOutCustomers() {
        if let customer = report.violations.first(where: { $0.rule == rule })?.customer,
            attempt({ $0.only = [customer] })
        {
            return
        }
        var customers = Array(0..<plan.fleet)
        var size = customers.count / 2
        while size > 0, runsLeft > 0 {
            let parts = stride(from: 0, to: customers.count, by: size).map {
                Array(customers[$0..<min($0 + size, customers.count)])
            }
            if let part = parts.first(where: { part in attempt { $0.only = Set(part) } }) {
                customers = part
            } else if parts.count > 2 {
                break
            }
            size = min(size, customers.count) / 2
        }
    }

    /// Keeps the change when the same rule is broken with it.
    @discardableResult
    private mutating func attempt(_ change: (inout Plan) -> Void) -> Bool {
        guard runsLeft > 0 else { return false }
        runsLeft -= 1
        var smaller = plan
        change(&smaller)
        let report = Fleet.live(smaller)
        guard report.violations.contains(where: { $0.rule == rule }) else { return false }
        (plan, self.report) = (smaller, report)
        return true
    }

    /// The small run as a person reads it: who lived, what else was going on, and what came of it;
    /// of the one alone whose purchase it was.
    package var story: [String] {
        var lines = ["with \(plan.features.list.map(\.rawValue).joined(separator: ", ")):"]
        let accused = report.violations.first { $0.rule == rule }?.customer
        let customers = accused.map { [$0] } ?? plan.only?.sorted() ?? []
        for number in customers.prefix(3) {
            let life = Life.of(number, seed: plan.seed, features: plan.features, until: plan.end)
            for one in life.subscriptions {
                lines.append("the truth of \(one.token.text):")
                lines += one.states.map {
                    "  \($0.from.day) \($0.standing), period \($0.period) to \($0.end.day)"
                }
            }
        }
        let end = report.story.firstIndex { $0.contains("VIOLATION") } ?? 0
        lines.append("what was done:")
        let told = report.story.prefix(end + 1).filter { line in
            accused.map { line.contains("token-\($0)-") || line.contains("user \($0) ") } ?? true
        }
        lines += told.suffix(25).map { "  \($0)" }
        return lines
    }
}
