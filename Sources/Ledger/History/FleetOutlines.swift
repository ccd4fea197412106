import Postgres
package import Renewal

extension PostgresLedger {
    /// How long it may take to count the fleet: some five seconds for each million purchases.
    package static let longestOutline = Duration.minutes(10)

    /// Counts the whole fleet, in one statement that only reads: for people, not for the hot path.
    ///
    /// - Parameter apps: those of which more than the number is wanted.
    /// - Returns: by app; one that nobody has submitted for is not there.
    /// - Throws: what went wrong with the database.
    package func fleetOutlines(
        of apps: [AppKey]
    ) async throws(LedgerError) -> [AppKey: FleetOutline] {
        try await attempt {
            var outlines: [AppKey: FleetOutline] = [:]
            let rows = try await self.reads.query(
                SQL.fleetOutline(
                    .texts(apps.map(\.store.rawValue)), .texts(apps.map(\.id)))
            ).rows
            for row in rows {
                let app = try row.app()
                if let group = try row.fleetGroup() {
                    outlines[app, default: FleetOutline()].add(group)
                } else {
                    outlines[app, default: FleetOutline()].waiting += Int(
                        try row.int64("purchases"))
                }
            }
            return outlines
        }
    }
}

extension PostgresRow {
    /// Nil for what waits, or is only counted.
    fileprivate func fleetGroup() throws(PostgresError) -> FleetOutline.Group? {
        guard let state: PurchaseState = try optionalWord("state"),
            let kind: ProductKind = try optionalWord("kind")
        else { return nil }
        var group = FleetOutline.Group(
            state, kind: kind, renews: try bool("renews"), count: Int(try int64("purchases")),
            due: try optionalSpan("due_first", "due_last"),
            end: try optionalSpan("end_first", "end_last"),
            age: .microseconds(try optionalInt64("age") ?? 0))
        group.isDoubted = try bool("doubted")
        group.dueAfterEnd = try optionalInt64("due_after_end").map { .microseconds($0) }
        return group
    }

    private func optionalSpan(
        _ first: String, _ last: String
    ) throws(PostgresError) -> Range<Duration>? {
        guard let first = try optionalInt64(first), let last = try optionalInt64(last) else {
            return nil
        }
        return .microseconds(first)..<(.microseconds(max(first, last) + 1))
    }
}
