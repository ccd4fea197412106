import Postgres
import Renewal

/// A row of `renewald.evidence`, as a commit writes it.
struct EvidenceRow {
    let shard: Int16
    let purchaseID: Int64
    let userID: UserID
    let evidence: Evidence
    let rule: String
    let before: Facts
    let facts: Facts
    let problem: Problem?
    let nextCheckAt: Timestamp?
    /// What was decided, to be decided again, and the number of the rules.
    var record: DecisionRecord?
    var policy: Int32?
}

extension CommitBatch {
    var evidenceStatement: PostgresStatement? {
        get throws(LedgerError) { try statement(of: outcomes.compactMap(row) + takeovers) }
    }

    private func statement(of rows: [EvidenceRow]) throws(LedgerError) -> PostgresStatement? {
        guard !rows.isEmpty else { return nil }
        let evidence = rows.map(\.evidence)
        let calls = evidence.map(\.calls)
        var sealed: [[UInt8]?] = []
        for row in rows { sealed.append(try sealedBodies(of: row)) }
        return SQL.commitEvidence([
            "shard": .int16s(rows.map(\.shard)), "purchase_id": .int64s(rows.map(\.purchaseID)),
            "user_id": .texts(rows.map(\.userID)),
            "kind": .texts(evidence.map(\.kind.rawValue)), "heard": .texts(evidence.map(\.heard)),
            "rule": .texts(rows.map(\.rule)),
            "call_names": .texts(calls.map { arrayLiteral($0.map(\.name)) }),
            "call_statuses": .texts(
                calls.map { arrayLiteral($0.map { $0.status.map(Int64.init) }) }),
            "call_bytes": .texts(calls.map { arrayLiteral($0.map { Int64($0.bytes) }) }),
            "call_digests": .texts(calls.map { arrayLiteral($0.map { $0.digest ?? "" }) }),
            "call_bodies": .optionalTexts(
                calls.map { sealer == nil ? Self.bodies(of: $0) : nil }),
            "sealed_bodies": .optionalBytes(sealed),
            "state_before": .texts(rows.map(\.before.state.rawValue)),
            "state": .texts(rows.map(\.facts.state.rawValue)),
            "access_before": .texts(rows.map(\.before.access.rawValue)),
            "access": .texts(rows.map(\.facts.access.rawValue)),
            "product": .texts(rows.map(\.facts.product)),
            "order_id": .optionalTexts(rows.map(\.facts.orderID)),
            "original_id": .optionalTexts(rows.map(\.newOriginalID)),
            "period": .optionalTexts(rows.map(\.newPeriod)),
            "paid_through": .optionalInstants(rows.map(\.facts.paidThrough)),
            "expires_at": .optionalInstants(rows.map(\.facts.expiresAt)),
            "problem": .optionalTexts(rows.map(\.problem?.description)),
            "next_check_at": .optionalInstants(rows.map(\.nextCheckAt)),
            "record": .optionalBytes(rows.map(\.record?.bytes)),
            "policy": .optionalInt64s(rows.map { $0.policy.map(Int64.init) }),
        ])
    }

    private func row(of outcome: Outcome) -> EvidenceRow? {
        guard let evidence = outcome.evidence else { return nil }
        let (claim, schedule) = (outcome.claim, outcome.schedule)
        return EvidenceRow(
            shard: claim.shard, purchaseID: claim.purchaseID, userID: outcome.owner,
            evidence: evidence, rule: outcome.rule, before: claim.purchase.facts,
            facts: purchases[claim.row]?.purchase.facts ?? outcome.facts,
            problem: schedule.problem, nextCheckAt: schedule.shownNextCheckAt,
            record: evidence.record, policy: policies.first { $0.rules == outcome.rules }?.number)
    }

    private func sealedBodies(of row: EvidenceRow) throws(LedgerError) -> [UInt8]? {
        let calls = row.evidence.calls
        guard let sealer, calls.contains(where: { $0.raw != nil }) else { return nil }
        return try sealer.answers(
            calls.map { $0.raw ?? "" }, ofPurchase: row.purchaseID,
            digests: calls.map { $0.digest ?? "" })
    }

    /// Nil where no body is kept.
    private static func bodies(of calls: [Evidence.Call]) -> String? {
        guard calls.contains(where: { $0.raw != nil }) else { return nil }
        return arrayLiteral(calls.map { $0.raw ?? "" })
    }
}

extension EvidenceRow {
    /// Names by which the purchase is found, where they are new.
    fileprivate var newOriginalID: OrderID? {
        facts.originalID == before.originalID ? nil : facts.originalID
    }

    fileprivate var newPeriod: OrderID? {
        facts.period == before.period || facts.period == facts.orderID ? nil : facts.period
    }
}
