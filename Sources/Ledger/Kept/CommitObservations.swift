import Postgres
import Renewal

/// A row of `renewald.observation`, as a commit writes it.
struct HeardRow {
    let bytes: [UInt8]
    /// Of the purchase, after the commit.
    let version: Int64
    let predecessor: StoreToken?

    var mark: Int64 { KeptObservation.mark(bytes, ofVersion: version) }
}

extension CommitBatch {
    /// Finds what was heard that is not kept yet, or was kept for other facts.
    mutating func noteHeard() {
        for outcome in outcomes {
            guard let kept = outcome.kept else { continue }
            let (claim, moved) = (outcome.claim, purchases[outcome.claim.row])
            let row = HeardRow(
                bytes: kept.bytes, version: moved.map { $0.version + 1 } ?? claim.version,
                predecessor: kept.predecessorToken)
            if row.mark != claim.heardMark { heard[claim.row] = row }
        }
    }

    /// After the statement that moves purchases to other shards.
    var observationStatement: PostgresStatement? {
        guard !heard.isEmpty else { return nil }
        let shards = newShards
        let rows = heard.map { row, heard in
            (id: RowID(shard: shards[row] ?? row.shard, id: row.id), heard: heard)
        }.sorted { $0.id < $1.id }
        return SQL.commitObservations([
            "shard": .int16s(rows.map(\.id.shard)), "id": .int64s(rows.map(\.id.id)),
            "version": .int64s(rows.map(\.heard.version)),
            "heard": .optionalBytes(rows.map(\.heard.bytes)),
            "predecessor": .optionalTexts(rows.map(\.heard.predecessor)),
        ])
    }
}
