package import Explain
import Ledger
import Renewal

/// What a run of `renewald shadow` has found, as the textfile collector of Prometheus' node
/// exporter reads it: the command is over before anybody could ask it.
///
/// <https://github.com/prometheus/node_exporter#textfile-collector>
package struct ShadowMetrics: Sendable {
    private let report: ShadowReport

    package init(_ report: ShadowReport) { self.report = report }

    /// The whole file. Each cause is there, also with none, so that an alert can rely on it.
    package var text: String {
        MetricFamily.ofShadow.map { family in
            family.text(samples(family), .text)
        }.joined()
    }

    private func samples(_ family: MetricFamily) -> [MetricSample] {
        let system = ("system", report.system)
        guard family != .shadowDifferences else {
            return ShadowClass.allCases.flatMap { who in
                ShadowCause.allCases.map { cause in
                    let tally = report.tallies.first { $0.who == who && $0.cause == cause }
                    return MetricSample(
                        [system, ("class", who.rawValue), ("cause", cause.rawValue)],
                        Double(tally?.count ?? 0))
                }
            }
        }
        return [MetricSample([system], number(family))]
    }

    private func number(_ family: MetricFamily) -> Double {
        switch family {
        case .shadowCompared: Double(report.run.compared)
        case .shadowUnsettled: Double(report.run.unsettled)
        case .shadowHealed: Double(report.run.healed)
        default: report.run.at.secondsSinceEpoch
        }
    }
}

extension MetricFamily {
    /// What `renewald shadow --metrics` writes.
    package static let ofShadow: [MetricFamily] = [
        shadowRunTime, shadowCompared, shadowDifferences, shadowUnsettled, shadowHealed,
    ]

    fileprivate static let shadowRunTime = gauge(
        "renewald_shadow_run_time_seconds", "When it was compared, in seconds since 1970.")
    fileprivate static let shadowCompared = gauge(
        "renewald_shadow_compared", "Users and entitlements that either side names.")
    fileprivate static let shadowDifferences = gauge(
        "renewald_shadow_differences", "Differences that count, by who grants and by cause.")
    fileprivate static let shadowUnsettled = gauge(
        "renewald_shadow_unsettled", "Differences that are younger than --settle.")
    fileprivate static let shadowHealed = gauge(
        "renewald_shadow_healed",
        "Differences of earlier runs that this one has not seen any more.")
}
