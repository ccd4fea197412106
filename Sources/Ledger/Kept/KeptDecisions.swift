import Postgres
package import Renewal

/// A decision as it is kept with its evidence.
package struct KeptDecision: Sendable {
    package let purchaseID: Int64
    package let at: Timestamp
    /// Nil for what this program cannot read.
    package let record: DecisionRecord?
    /// The number of the rules that were in force; nil where they could not be kept.
    package let policy: Int32?
    /// Whether its row of the evidence says the same as its record.
    package let isConsistent: Bool
}

/// The decisions about some purchases.
package struct DecisionPage: Sendable {
    package internal(set) var decisions: [KeptDecision] = []
    /// Where to go on; nil at the end.
    package internal(set) var last: (shard: Int16, id: Int64)?
}

extension PostgresLedger {
    /// The decisions since a time about the next purchases, oldest first for each: of `limit`
    /// purchases after the last one of the page before. Reads only.
    package func decisions(
        since: Timestamp, after last: (shard: Int16, id: Int64)?, limit: Int
    ) async throws(LedgerError) -> DecisionPage {
        try await attempt {
            var page = DecisionPage()
            let rows = try await self.reads.query(
                SQL.decisionPage(
                    .int16(last?.shard ?? -1), .int64(last?.id ?? 0), .int32(Int32(limit)),
                    .instant(since))
            ).rows
            for row in rows {
                let id = try row.int64("id")
                page.last = (try row.int16("shard"), id)
                guard let bytes = try row.optionalBytes("record") else { continue }
                let record = try? DecisionRecord(bytes, ofPurchase: id)
                page.decisions.append(
                    KeptDecision(
                        purchaseID: id, at: try row.instant("at"), record: record,
                        policy: try row.optionalInt32("policy"),
                        isConsistent: try record.map { try row.agrees(with: $0) } ?? true))
            }
            return page
        }
    }

    /// By the database's clock.
    package func now() async throws(LedgerError) -> Timestamp {
        try await attempt { try await self.reads.query(SQL.now())[0].instant("now") }
    }

    /// The rules of that number.
    ///
    /// - Returns: nil where they are not kept, or hold a word of a later program.
    package func rules(numbered number: Int32) async throws(LedgerError) -> Rules? {
        try await attempt {
            let results = try await self.reads.pipeline([
                SQL.policyWords(.int32(number)), SQL.policyProducts(.int32(number)),
            ])
            let words = try results[0].rows.map { row throws(PostgresError) in
                (name: try row.text("name") as String, value: try row.text("value") as String)
            }
            guard !words.isEmpty, let policy = Policy(words: words) else { return nil }
            var products: [ProductID: Catalog.Product] = [:]
            for row in results[1].rows {
                let name: String? = try row.optionalText("kind")
                let kind = name.flatMap(ProductKind.init(rawValue:))
                // A word that this program does not know.
                guard name == nil || kind != nil else { return nil }
                products[try row.text("id")] = Catalog.Product(
                    kind: kind,
                    duration: try row.optionalInt64("duration").map(Duration.microseconds),
                    entitlements: try row.texts("entitlements"))
            }
            return Rules(policy: policy, catalog: Catalog(products))
        }
    }
}

extension PostgresRow {
    /// Whether the columns for people say what the record says. What was decided may have been
    /// settled otherwise: a newer link of the chain has taken over, or is waited for, or the
    /// breaker holds it.
    fileprivate func agrees(with record: DecisionRecord) throws(PostgresError) -> Bool {
        let (before, decided) = (record.claim.purchase.facts, record.decided.facts)
        let state: PurchaseState = try word("state")
        let access: Access = try word("access")
        guard try word("state_before") == before.state, try word("access_before") == before.access
        else { return false }
        if state == .superseded || access == .held { return true }
        if decided.lossReason == .productChanged, state == before.state, access == before.access {
            return true
        }
        return state == decided.state && access == decided.access
    }
}
