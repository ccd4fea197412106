import Ledger
import Renewal

/// `renewald shadow --json`: users and entitlements.
extension ShadowReport: JSONObject {
    package func write(to row: inout JSONRow) {
        row.compared = run.compared
        row.agree = run.agree
        row.unsettled = run.unsettled
        row.theyGrant = counts(of: .theyGrant)
        row.weGrant = counts(of: .weGrant)
        row.healed = run.healed
    }

    private func counts(of who: ShadowClass) -> [String: Int64] {
        Dictionary(causes(of: who).map { ($0.cause.rawValue, $0.count) }, uniquingKeysWith: +)
    }
}
