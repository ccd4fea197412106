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
            let woken = choice.chosen.isEmpty ? 0 : try await self.wake(choice.chosen, in: lane)
            return .swept(woken, reached: choice.reached, ended: choice.ended)
        }
    }

    /// How many of an app are recalled at once.
    private static let recallLimit: Int32 = 10_000

    /// Makes due some of what was asked about last in the future, before the clock was set back. It
    /// reads the whole schedule.
    ///
    /// - Returns: how many; zero where none is left but what others hold.
    /// - Throws: `.unavailable` without a database.
    package func recall(_ lanes: [Lane]) async throws(LedgerError) -> Int {
        var recalled = 0
        for lane in lanes {
            let number = PostgresValue.int32(lane.number)
            recalled += try await attempt {
                let places = try await self.reads.pipeline([
                    SQL.recallPage(number, .int32(Self.recallLimit))
                ])[0].rows.map { row throws(PostgresError) in
                    Place(
                        shard: try row.int16("shard"), dueAt: try row.instant("due_at"),
                        id: try row.int64("id"))
                }
                return places.isEmpty ? 0 : try await self.wake(places, in: number)
            }
        }
        return recalled
    }

    private func wake(
        _ places: [Place], in lane: PostgresValue
    ) async throws(PostgresError) -> Int {
        Int(
            try await retrying { () throws(PostgresError) in
                try await self.writes.query(SQL.sweepWake.with(Self.columns(of: places) + [lane]))
            }.rows[0].int64("woken"))
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
                place, checkedAt: try optionalInstant("checked_at"),
                inVainAt: try optionalInstant("in_vain_at"), state: try word("state"),
                access: try word("access"), kind: try optionalWord("kind"),
                autoRenew: try optionalBool("auto_renew"), isFree: try bool("is_free"),
                createdAt: try instant("created_at"), end: try optionalInstant("ends_at"),
                isTroubled: try bool("is_troubled"))
        } catch {
            return SweepRow(unreadableAt: place)
        }
    }
}
