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
}

extension CommitBatch {
    var evidenceStatement: PostgresStatement? {
        let rows = outcomes.compactMap(row) + takeovers
        guard !rows.isEmpty else { return nil }
        let evidence = rows.map(\.evidence)
        let calls = evidence.map(\.calls)
        return SQL.commitEvidence(
            .int16s(rows.map(\.shard)), .int64s(rows.map(\.purchaseID)),
            .texts(rows.map(\.userID)), .texts(evidence.map(\.kind.rawValue)),
            .texts(evidence.map(\.heard)), .texts(rows.map(\.rule)),
            .texts(calls.map { arrayLiteral($0.map(\.name)) }),
            .texts(calls.map { arrayLiteral($0.map { $0.status.map(Int64.init) }) }),
            .texts(calls.map { arrayLiteral($0.map { Int64($0.bytes) }) }),
            .texts(calls.map { arrayLiteral($0.map { $0.digest ?? "" }) }),
            .optionalTexts(calls.map(Self.bodies)),
            .texts(rows.map(\.before.state.rawValue)), .texts(rows.map(\.facts.state.rawValue)),
            .texts(rows.map(\.before.access.rawValue)), .texts(rows.map(\.facts.access.rawValue)),
            .texts(rows.map(\.facts.product)), .optionalTexts(rows.map(\.facts.orderID)),
            .optionalTexts(rows.map(\.newOriginalID)), .optionalTexts(rows.map(\.newPeriod)),
            instants(rows.map(\.facts.paidThrough)), instants(rows.map(\.facts.expiresAt)),
            .optionalTexts(rows.map(\.problem?.description)), instants(rows.map(\.nextCheckAt)))
    }

    private func row(of outcome: Outcome) -> EvidenceRow? {
        guard let evidence = outcome.evidence else { return nil }
        let (claim, decision) = (outcome.claim, outcome.decision)
        let id = RowID(shard: claim.shard, id: claim.purchase.id)
        return EvidenceRow(
            shard: claim.shard, purchaseID: id.id,
            userID: decision.handsTo ?? claim.purchase.userID, evidence: evidence,
            rule: decision.rule, before: claim.purchase.facts,
            facts: purchases[id]?.purchase.facts ?? decision.facts, problem: decision.problem,
            nextCheckAt: decision.nextCheckAt == .never ? nil : decision.nextCheckAt)
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
