package import Configuration
import Engine
package import Explain
package import Renewal

/// What the fleet costs and how soon its changes are known (`renewald plan`). Asks no store and
/// writes nothing.
package struct Plan: Sendable {
    private let configuration: Settings

    package init(_ configuration: Settings) {
        self.configuration = configuration
    }

    /// So many purchases more, of an app or of all together.
    package enum Growth: Hashable, Sendable {
        /// Shared out as the purchases are now.
        case altogether(Int)
        case ofApps([AppKey: Int])
    }

    /// - Parameters:
    ///   - fleet: what each app has; one that is not in it has nothing.
    ///   - growth: what is asked for beside that.
    /// - Returns: the forecasts, in the order of the configuration.
    package func report(
        on fleet: [AppKey: FleetOutline], with growth: Growth? = nil
    ) -> PlanReport {
        let keys = configuration.apps.map(\.key)
        let outlines = keys.map { fleet[$0] ?? FleetOutline() }
        let more = growth.map { Self.shares(of: $0, among: keys, outlines) }
        var report = PlanReport()
        for (index, app) in configuration.apps.enumerated() {
            report.apps.append(plan(app, outlines[index], more.map { $0[index] }))
        }
        report.unknownApps = fleet.filter { !keys.contains($0.key) && $0.value.purchases > 0 }
            .map { key, outline in
                UnknownApp(
                    key, purchases: Int64(outline.purchases),
                    nearest: Nearest.app(key, among: keys))
            }
            .sorted { ($1.purchases, $0.key.name) < ($0.purchases, $1.key.name) }
        return report
    }

    private func plan(_ app: App, _ fleet: FleetOutline, _ more: Int?) -> AppPlan {
        var terms = terms(of: app)
        let missing = app.ofStore.news(in: &terms)
        var plan = AppPlan(app.key, Forecast(of: fleet, under: terms))
        plan.isAssumed = fleet.settled.isAssumed
        var (wanted, grown) = (plan.forecast, fleet)
        if let more {
            grown = fleet.grown(by: more)
            wanted = Forecast(of: grown, under: terms)
            plan.more = wanted
        }
        plan.advice = PlanAdvice(grown, wanted, terms).sentences(missing)
        return plan
    }

    private func terms(of app: App) -> ForecastTerms {
        let rate = configuration.stores.requestsPerSecond(app.key.store)
        var terms = ForecastTerms(
            app.key.store, rules: configuration.rules, callsPerSecond: rate,
            usableCallsPerSecond: RateReservation.usable(of: rate),
            poll: configuration.engine.poll)
        terms.sweepShare = configuration.engine.sweepShare
        return terms
    }

    /// How many more each app gets.
    private static func shares(
        of growth: Growth, among keys: [AppKey], _ outlines: [FleetOutline]
    ) -> [Int] {
        switch growth {
        case .ofApps(let counts): return keys.map { counts[$0] ?? 0 }
        case .altogether(let count):
            let all = outlines.reduce(0) { $0 + $1.purchases }
            var (before, given) = (0, 0)
            return outlines.indices.map { index in
                // Where nobody has any, all have as many.
                before += all > 0 ? outlines[index].purchases : 1
                let sum = Double(count) * Double(before) / Double(all > 0 ? all : keys.count)
                defer { given = Int(sum.rounded()) }
                return Int(sum.rounded()) - given
            }
        }
    }
}

/// What would help, each with its figure.
struct PlanAdvice {
    private let fleet: FleetOutline
    private let forecast: Forecast
    private let terms: ForecastTerms

    /// Above this share of the quota a bad day is late.
    private static let comfortableShare = 0.8

    init(_ fleet: FleetOutline, _ forecast: Forecast, _ terms: ForecastTerms) {
        self.fleet = fleet
        self.forecast = forecast
        self.terms = terms
    }

    func sentences(_ missing: MissingNews?) -> [String] {
        guard forecast.purchases > 0 else { return [] }
        return [calls(), missing.flatMap(news)].compactMap(\.self)
    }

    private func calls() -> String? {
        guard forecast.quotaShare > Self.comfortableShare else { return nil }
        let day = Duration.days(1) / .seconds(1)
        let needed = (forecast.wantedPerDay / day / Self.comfortableShare).rounded(.up)
        let more = max((needed - terms.callsPerSecond).rounded(.up), 1)
        let then = Forecast(of: fleet, under: terms.allowing(terms.callsPerSecond + more))
        let rate = Int(terms.callsPerSecond + more)
        return "\(Int(more)) requests/s more (requests_per_second = \(rate), if the store's quota "
            + "has them): \(Int((then.quotaShare * 100).rounded())) % of the quota"
            + change(.refund, to: then)
    }

    private func news(_ missing: MissingNews) -> String? {
        var told = terms
        told.newsOfAll = missing.interval
        let then = Forecast(of: fleet, under: told)
        let changes = [Forecast.Change.refund, .recovery].map { change($0, to: then) }
        guard changes.contains(where: { !$0.isEmpty }) else { return nil }
        return missing.remedy + ":" + changes.joined().dropFirst()
    }

    /// Such as `, a refund is known within 12 s instead of 7 days`; empty where nothing is gained.
    private func change(_ change: Forecast.Change, to then: Forecast) -> String {
        guard let now = forecast.lags[change], let later = then.lags[change],
            later.p99 < now.p99 * 0.9
        else { return "" }
        return ", a \(change.rawValue) is known within \(later.p99.roughly) instead of "
            + now.p99.roughly
    }
}
