import Postgres
package import Renewal

extension PostgresLedger {
    /// Makes due what `SweepChoice` takes of the places of the request, unless the app's queue is
    /// behind.
    ///
    /// - Throws: `.unavailable` without a database.
    package func sweep(_ request: SweepRequest) async throws(LedgerError) -> SweepStep {
        try await attempt {
            let lane = PostgresValue.int32(request.lane.number)
            let results = try await self.reads.pipeline([
                SQL.sweepState(
                    lane, .int64(request.patience.microseconds),
                    .texts(request.sources.keys.sorted())),
                SQL.sweepPage.with(
                    Self.columns(of: request.places) + [lane, .int32(Int32(request.perShard))]),
            ])
            let state = results[0].rows[0]
            if try state.bool("is_behind") { return .behind }
            let rows = try results[1].rows.map { row throws(PostgresError) in
                try row.sweepRow()
            }
            let choice = SweepChoice(
                of: rows, for: request, heard: try state.texts("heard"),
                at: try state.instant("now"))
            var woken: Int64 = 0
            if !choice.chosen.isEmpty {
                woken = try await self.retrying { () throws(PostgresError) in
                    try await self.writes.query(
                        SQL.sweepWake.with(Self.columns(of: choice.chosen) + [lane]))
                }.rows[0].int64("woken")
            }
            return .swept(Int(woken), reached: choice.reached, ended: choice.ended)
        }
    }

    static func columns(of places: [Place]) -> [PostgresValue] {
        [
            .int16s(places.map(\.shard)),
            .timestamps(places.map(\.dueAt.microsecondsSinceEpoch)),
            .int64s(places.map(\.id)),
        ]
    }
}

extension PostgresRow {
    /// What cannot be read is left alone: it is set aside when it is due.
    fileprivate func sweepRow() throws(PostgresError) -> SweepRow {
        let place = Place(
            shard: try int16("shard"), dueAt: try instant("due_at"), id: try int64("id"))
        do {
            return SweepRow(
                place, checkedAt: try optionalInstant("checked_at"), state: try word("state"),
                access: try word("access"), kind: try optionalWord("kind"),
                autoRenew: try optionalBool("auto_renew"), isFree: try bool("is_free"),
                createdAt: try instant("created_at"), end: try optionalInstant("ends_at"),
                isTroubled: try bool("is_troubled"))
        } catch {
            return SweepRow(unreadableAt: place)
        }
    }
}
