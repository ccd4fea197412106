import Daemon
import Explain
import Renewal

/// A plan, for people.
struct PlanText {
    private let report: PlanReport

    init(_ report: PlanReport) { self.report = report }

    var lines: [String] {
        guard !report.apps.isEmpty else { return ["no app is configured"] }
        return Array(report.apps.map(lines).joined(separator: [""]))
    }

    private func lines(of app: AppPlan) -> [String] {
        let forecast = app.forecast
        var lines = ["\(app.app.store.rawValue) \(app.app.id)"]
        let assumed = app.isAssumed ? ", taken for monthly subscriptions in force" : ""
        lines.append("  purchases     \(forecast.purchases)\(assumed)")
        if forecast.purchases > 0 { lines += figures(forecast) }
        if let more = app.more, more.purchases > forecast.purchases {
            lines.append("  with \(more.purchases - forecast.purchases) more")
            lines += figures(more).map { "  " + $0 }
        }
        return lines + app.advice.map { "  would help    \($0)" }
    }

    private func figures(_ forecast: Forecast) -> [String] {
        var lines = ["  calls a day   \(calls(forecast))"]
        for part in Forecast.Part.allCases {
            guard let count = forecast.wanted[part], count > 0 else { continue }
            lines.append("    \(part.words.padded(to: 16))\(rounded(count))")
        }
        lines.append(
            "  sweep         \(forecast.sweep.roughly) to ask about each purchase once")
        if let spare = forecast.spare {
            lines.append(
                "  spare calls   what changes most often is asked about every "
                    + spare.interval.roughly)
        }
        if forecast.waiting > 0 { lines.append("  back-fill     \(backfill(forecast))") }
        if forecast.delay > .zero {
            lines.append(
                "  too much      each check waits \(forecast.delay.roughly) for its turn")
        }
        for change in Forecast.Change.allCases {
            guard let lag = forecast.lags[change] else { continue }
            lines.append(
                "  lag           \(change.words.padded(to: 16))p99 \(lag.p99.roughly), at worst "
                    + lag.worst.roughly)
        }
        return lines
    }

    private func calls(_ forecast: Forecast) -> String {
        let tenths = (forecast.quotaShare * 1000).rounded() / 10
        let share = tenths == 0 ? "less than 0.1" : "\(tenths)"
        let text = "\(rounded(forecast.callsPerDay)) of \(rounded(forecast.quotaPerDay)), "
        guard forecast.quotaShare > 1 else { return text + "\(share) % of the quota" }
        return text + "and \(rounded(forecast.wantedPerDay)) are wanted: \(share) % of the quota"
    }

    private func backfill(_ forecast: Forecast) -> String {
        let left = "\(forecast.waiting) wait for their first check"
        guard let time = forecast.backfill else {
            return left + ", for which the quota has nothing left"
        }
        return left + ", about \(time.roughly)"
    }

    private func rounded(_ number: Double) -> String {
        number < 10 ? "\((number * 10).rounded() / 10)" : "\(Int(number.rounded()))"
    }
}

extension Forecast.Part {
    fileprivate var words: String {
        switch self {
        case .expiry: "expiry"
        case .paymentTrouble: "payment trouble"
        case .pause: "pause"
        case .secondOpinion: "second opinion"
        case .sweep: "sweep"
        case .ended: "ended"
        case .firstSight: "first sight"
        case .news: "news"
        }
    }
}

extension Forecast.Change {
    fileprivate var words: String {
        switch self {
        case .expiry, .refund, .renewal, .recovery: rawValue
        case .paymentFailure: "payment failure"
        }
    }
}

extension String {
    /// For a column of a table.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(width - count, 1))
    }
}
