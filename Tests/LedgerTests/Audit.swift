import TestSupport

extension Stage {
    /// The rules that do not hold.
    func broken() async throws -> [String] {
        try await Audit.broken(beside)
    }

    /// Purchases with a version of which nothing was told: where each step was to tell something.
    func silentVersions() async throws -> Int64 {
        try await number(
            """
            SELECT count(*) FROM renewald.purchase
            CROSS JOIN LATERAL generate_series(1, purchase.version) AS step (version)
            LEFT JOIN renewald.event ON event.shard = purchase.shard
                AND event.purchase_id = purchase.id AND event.purchase_version = step.version
            WHERE event.id IS NULL
            """)
    }
}
