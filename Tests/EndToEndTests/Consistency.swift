/// What must hold in every database, whatever has happened to it and to the programs.
extension Stage {
    /// How many events there are.
    func events() async throws -> Int {
        Int(try await value("SELECT count(*) FROM renewald.events")) ?? 0
    }

    /// Waits until each of so many purchases has been granted, and sees that none was told twice.
    func expectGrants(_ count: Int, within limit: Duration = .seconds(90)) async throws {
        try await wait(within: limit) { try await events() >= count }
        try await expectConsistent()
        let told = try await value(
            """
            SELECT concat_ws(' ', count(*), count(DISTINCT key), count(DISTINCT purchase_id),
                count(*) FILTER (WHERE kind = 'grant'))
            FROM renewald.events
            """)
        guard told == "\(count) \(count) \(count) \(count)" else {
            throw StageFailure("told \(told), expected \(count) grants")
        }
    }

    /// State, events, union and schedule agree, of purchases of which each has one event at most.
    func expectConsistent() async throws {
        let faults = try await value(
            """
            SELECT concat_ws(', ',
                (SELECT 'doubled events ' || count(*) FROM (
                    SELECT purchase_id FROM renewald.event GROUP BY purchase_id
                    HAVING count(*) > 1) AS doubled HAVING count(*) > 0),
                (SELECT 'grants without state ' || count(*) FROM renewald.event
                    JOIN renewald.purchase ON purchase.id = event.purchase_id
                    WHERE purchase.access = 'none' HAVING count(*) > 0),
                (SELECT 'state without grant ' || count(*) FROM renewald.purchase
                    WHERE access <> 'none' AND NOT EXISTS (
                        SELECT FROM renewald.event WHERE event.purchase_id = purchase.id)
                    HAVING count(*) > 0),
                (SELECT 'union differs ' || count(*) FROM renewald.purchase
                    LEFT JOIN renewald.entitlement USING (shard, user_id)
                    WHERE (purchase.access <> 'none') <> coalesce(entitlement.active, false)
                    HAVING count(*) > 0),
                (SELECT 'schedule differs ' || count(*) FROM renewald.purchase
                    FULL JOIN renewald.schedule USING (shard, lane, id)
                    WHERE purchase.user_id IS NULL OR schedule.due_at IS NULL
                    HAVING count(*) > 0),
                (SELECT 'checked without state ' || count(*) FROM renewald.purchase
                    JOIN renewald.schedule USING (shard, lane, id)
                    WHERE (schedule.checked_at IS NOT NULL) <> (purchase.state <> 'new')
                    HAVING count(*) > 0))
            """)
        guard faults.isEmpty else { throw StageFailure(faults) }
    }
}
