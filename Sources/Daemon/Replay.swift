package import Ledger
package import Renewal

/// Makes kept decisions again, by this program and the rules of then, and compares (design rule
/// 14). Reads only.
package struct Replay: Sendable {
    private let ledger: PostgresLedger
    private let since: Timestamp

    /// Purchases whose decisions are read at once.
    private static let pageLimit = 200

    package init(_ ledger: PostgresLedger, since: Timestamp) {
        self.ledger = ledger
        self.since = since
    }

    package struct Report: Hashable, Sendable {
        package var decided = 0
        package var different = 0
        /// Kept by a later program, or without its rules: nothing can be said of it.
        package var unreadable = 0
        /// The first of those that differ.
        package var examples: [Example] = []
    }

    package struct Example: Hashable, Sendable {
        package let purchaseID: Int64
        package let at: Timestamp
        /// What differs.
        package let names: [String]
    }

    private static let exampleLimit = 10

    package func run() async throws(LedgerError) -> Report {
        var report = Report()
        var rules: [Int32: Rules?] = [:]
        var last: (shard: Int16, id: Int64)?
        repeat {
            let page = try await ledger.decisions(
                since: since, after: last, limit: Self.pageLimit)
            last = page.last
            for number in Set(page.decisions.compactMap(\.policy)) where rules[number] == nil {
                rules[number] = .some(try await ledger.rules(numbered: number))
            }
            for decision in page.decisions {
                let known = decision.policy.flatMap { rules[$0] ?? nil }
                Self.compare(decision, under: known, &report)
            }
        } while last != nil && !Task.isCancelled
        return report
    }

    private static func compare(
        _ decision: KeptDecision, under rules: Rules?, _ report: inout Report
    ) {
        guard let record = decision.record, let rules else {
            report.unreadable += 1
            return
        }
        report.decided += 1
        let again = record.decidedAgain(under: rules)
        var names = again == record.decided ? [] : again.differences(from: record.decided)
        if !decision.isConsistent { names.append("the row of the evidence") }
        guard !names.isEmpty else { return }
        report.different += 1
        guard report.examples.count < exampleLimit else { return }
        report.examples.append(
            Example(purchaseID: decision.purchaseID, at: decision.at, names: names))
    }
}
