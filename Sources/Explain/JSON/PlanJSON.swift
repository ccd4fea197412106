import Renewal

/// `renewald plan --json`.
extension PlanReport: JSONObject {
    package func write(to row: inout JSONRow) {
        row.apps = apps
        row.unknownApps = unknownApps
    }
}

extension AppPlan: JSONObject {
    package func write(to row: inout JSONRow) {
        row.store = app.store
        row.app = app.id
        forecast.write(to: &row)
        row.assumed = isAssumed
        row.more = more
        row.advice = advice
    }
}

extension Forecast: JSONObject {
    package func write(to row: inout JSONRow) {
        row.purchases = purchases
        row.callsPerDay = callsPerDay
        row.callsPerDayWanted = wantedPerDay
        row.callsPerDayLimit = quotaPerDay
        row.quotaShare = quotaShare
        row.sweepSeconds = sweep.components.seconds
        row.spareIntervalSeconds = spare?.interval.components.seconds
        row.calls = Calls(forecast: self)
        row.delaySeconds = delay.components.seconds
        row.backfill = waiting > 0 ? Backfill(forecast: self) : nil
        row.lag = Lags(lags: lags)
    }

    private struct Calls: JSONObject {
        let forecast: Forecast

        func write(to row: inout JSONRow) {
            for part in Part.allCases {
                row[dynamicMember: part.rawValue] = forecast.wanted[part] ?? 0
            }
        }
    }

    private struct Backfill: JSONObject {
        let forecast: Forecast

        func write(to row: inout JSONRow) {
            row.left = forecast.waiting
            row.seconds = forecast.backfill?.components.seconds
        }
    }

    private struct Lags: JSONObject {
        let lags: [Change: Lag]

        func write(to row: inout JSONRow) {
            for change in Change.allCases {
                let lag = lags[change]
                row[dynamicMember: "\(change.rawValue)P99Seconds"] =
                    lag?.p99.components.seconds ?? 0
                row[dynamicMember: "\(change.rawValue)WorstSeconds"] =
                    lag?.worst.components.seconds ?? 0
            }
        }
    }
}
