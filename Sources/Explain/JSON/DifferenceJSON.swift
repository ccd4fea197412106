package import Renewal

/// `renewald what-if --json` and `renewald apply --json`: users and entitlements.
package struct DifferenceJSON: JSONObject {
    private let difference: Difference

    package init(_ difference: Difference) {
        self.difference = difference
    }

    package func write(to row: inout JSONRow) {
        row.purchases = difference.purchases
        row.skipped = difference.unknown
        row.toAsk = difference.sharing
        row.gain = Self.named(difference.gain)
        row.lose = Self.named(difference.lose)
        row.reasons = Dictionary(
            difference.reasons.map { ($0.name, $0.count) }, uniquingKeysWith: +)
    }

    private static func named(_ counts: [EntitlementID: Int]) -> [String: Int] {
        Dictionary(counts.map { ($0.text, $1) }, uniquingKeysWith: +)
    }
}

/// `renewald replay --json`.
package struct ReplayJSON: JSONObject {
    private let decided: Int
    private let different: Int

    package init(decided: Int, different: Int) {
        self.decided = decided
        self.different = different
    }

    package func write(to row: inout JSONRow) {
        row.decided = decided
        row.different = different
    }
}
