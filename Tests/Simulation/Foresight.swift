import Engine
import LedgerModel
import Renewal
import Synchronization

/// When a fleet is forecast: what comes after that day is compared with it.
struct Foresight: Sendable {
    let day: Int

    /// What a forecast looks ahead.
    static let days = 28

    var from: Timestamp { World.start + .days(day) }
    var to: Timestamp { from + .days(Self.days) }
}

/// A figure as it was forecast and as it was lived.
struct Compared: Sendable {
    let name: String
    let forecast: Double
    let lived: Double
    /// Of how many it was lived.
    let count: Int

    var line: String {
        let off = lived > 0 ? (forecast / lived - 1) * 100 : 0
        let rounded = { (number: Double) in "\((number * 10).rounded() / 10)" }
        return "\(name): forecast \(rounded(forecast)), lived \(rounded(lived)) of \(count), "
            + "off by \(rounded(off)) %"
    }
}

package struct Comparison: Sendable {
    let figures: [Compared]

    package var lines: [String] { figures.map(\.line) }
}

/// Notes how late each change is known, and how many calls there are.
final class Diary: Sendable {
    private struct State {
        var from: Timestamp?
        var lags: [Forecast.Change: [Double]] = [:]
        var parts: [Forecast.Part: Int] = [:]
        /// Those of a sweep that were not asked about yet.
        var unswept: Set<Int64> = []
        var sweptFrom: Timestamp?
        var sweptAt: Timestamp?
        var comparison: Comparison?
    }

    private let sold: [StoreToken: Subscription]
    private let state = Mutex(State())

    init(_ sold: [StoreToken: Subscription]) { self.sold = sold }

    var comparison: Comparison? { state.withLock(\.comparison) }

    /// Forecasts, lives on, and compares.
    func keep(
        _ foresight: Foresight, _ plan: Plan, _ ledger: ModelLedger, _ store: SimulatedStore
    ) async {
        await World.wait(until: foresight.from)
        let terms = ForecastTerms(
            SimulatedStore.app.store, rules: plan.settings.rules,
            callsPerSecond: plan.callsPerSecond,
            usableCallsPerSecond: RateReservation.usable(of: plan.callsPerSecond),
            poll: plan.poll)
        let forecast = Forecast(
            of: FleetOutline(of: ledger.rows, at: World.now), under: terms, lives: 4000)
        let before = store.calls
        state.withLock { $0.from = foresight.from }
        await World.wait(until: foresight.to)
        let calls = store.calls - before
        let (lags, parts) = state.withLock { state in
            state.from = nil
            return (state.lags, state.parts)
        }
        var figures = [
            Compared(
                name: "calls a day", forecast: forecast.callsPerDay,
                lived: Double(calls) / Double(Foresight.days), count: calls)
        ]
        for part in Forecast.Part.allCases {
            let lived = parts[part] ?? 0
            guard lived > 0 || forecast.wanted[part] != nil else { continue }
            figures.append(
                Compared(
                    name: "  of these \(part.rawValue)", forecast: forecast.wanted[part] ?? 0,
                    lived: Double(lived) / Double(Foresight.days), count: lived))
        }
        for change in Forecast.Change.allCases {
            guard let lived = lags[change]?.sorted(), !lived.isEmpty else { continue }
            let place = min(lived.count - 1, lived.count * 99 / 100)
            figures.append(
                Compared(
                    name: "p99 \(change.rawValue), minutes",
                    forecast: (forecast.lags[change]?.p99 ?? .zero) / .seconds(60),
                    lived: lived[place] / 60, count: lived.count))
        }
        figures.append(await sweep(ledger, forecast, terms))
        state.withLock { $0.comparison = Comparison(figures: figures) }
    }

    /// Makes all of the fleet due, and waits until all have been asked about.
    private func sweep(
        _ ledger: ModelLedger, _ forecast: Forecast, _ terms: ForecastTerms
    ) async -> Compared {
        let ids = Set(ledger.rows.map(\.purchase.id))
        state.withLock { $0.unswept = ids }
        ledger.makeAllDue()
        while state.withLock({ $0.sweptAt == nil }) { await World.wait(for: .minutes(5)) }
        let (from, to) = state.withLock { ($0.sweptFrom ?? .never, $0.sweptAt ?? .never) }
        return Compared(
            name: "sweep, minutes",
            // The fleet has grown since.
            forecast: forecast.sweep / .seconds(60)
                * Double(ids.count) / Double(max(forecast.purchases, 1)),
            lived: (to - from) / .seconds(60), count: ids.count)
    }

    // MARK: At each commit

    func note(_ commit: ModelCommit) {
        let now = World.now
        state.withLock { state in
            if !state.unswept.isEmpty {
                if state.sweptFrom == nil { state.sweptFrom = now }
                for outcome in commit.outcomes {
                    state.unswept.remove(outcome.claim.purchase.id)
                }
                if state.unswept.isEmpty { state.sweptAt = now }
            }
            guard let from = state.from else { return }
            for outcome in commit.outcomes {
                let purchase = outcome.claim.purchase
                let part = Forecast.Part(of: purchase.facts, in: purchase.app.store, at: now)
                state.parts[part, default: 0] += 1
            }
            for change in commit.changes {
                guard let one = sold[change.after.token],
                    let (what, at) = one.change(from: change.before.facts, to: change.after.facts),
                    at >= from
                else { continue }
                state.lags[what, default: []].append((now - at) / .seconds(1))
            }
        }
    }
}

extension Subscription {
    /// What a commit has made known, and since when it was so.
    fileprivate func change(
        from before: Facts, to after: Facts
    ) -> (Forecast.Change, Timestamp)? {
        guard let now = state(at: World.now) else { return nil }
        if before.access == .granted, after.access == .none {
            switch now.standing {
            case .ended(by: "user"): return (.expiry, now.from)
            case .refunded: return (.refund, now.from)
            case .hold: return (.paymentFailure, now.from)
            case .active, .silent, .grace, .paused, .ended, .replaced: return nil
            }
        }
        guard case .active = now.standing, after.access == .granted, let paid = after.paidThrough,
            let known = before.paidThrough, paid > known
        else { return nil }
        if before.state == .hold { return (.recovery, now.from) }
        return before.state == .active ? (.renewal, max(now.from, known)) : nil
    }
}

extension FleetOutline {
    /// As `fleet_outline.sql` has it, each purchase by itself.
    fileprivate init(of rows: [ModelRow], at now: Timestamp) {
        self.init()
        for row in rows.sorted(by: { $0.purchase.id < $1.purchase.id }) {
            let facts = row.purchase.facts
            let instant = Duration.microseconds(1)
            let end = (facts.expiresAt ?? facts.paidThrough).map { $0 - now }
            let due = row.dueAt == .never ? nil : row.dueAt - now
            var group = Group(
                facts.state, kind: facts.kind ?? .autoRenewable, renews: facts.willRenew ?? true,
                count: 1, due: due.map { $0..<($0 + instant) },
                end: end.map { $0..<($0 + instant) },
                age: now - row.purchase.createdAt)
            group.isDoubted = facts.doubt != nil
            if facts.state == .active, let due, let end, end > .zero,
                due - end < .hours(1), end - due < .hours(1)
            {
                group.dueAfterEnd = due - end
            }
            add(group)
        }
    }
}
