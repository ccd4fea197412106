package import Postgres

/// What must hold in every database, whatever has happened to it and to the programs.
package enum Audit {
    private static let rules: [(rule: String, violations: String)] = [
        (
            "each purchase has one place in the schedule",
            """
            SELECT purchase.id FROM renewald.purchase
            LEFT JOIN renewald.schedule USING (shard, lane, id)
            GROUP BY purchase.shard, purchase.id HAVING count(schedule.id) <> 1
            """
        ),
        (
            "each place in the schedule has a purchase",
            """
            SELECT schedule.id FROM renewald.schedule
            LEFT JOIN renewald.purchase USING (shard, lane, id) WHERE purchase.id IS NULL
            """
        ),
        (
            "each purchase has what it is asked with, and each of that a purchase",
            """
            SELECT id FROM renewald.purchase FULL JOIN renewald.credential USING (shard, id)
            WHERE purchase.user_id IS NULL OR credential.token IS NULL
            """
        ),
        (
            "each token leads to a purchase that has it",
            """
            SELECT known.id FROM renewald.token_key AS known
            LEFT JOIN renewald.credential ON credential.shard = known.shard
                AND credential.id = known.id
                AND sha256(convert_to(credential.token, 'UTF8')) = known.digest
            WHERE credential.id IS NULL
            """
        ),
        (
            "each original id leads to a purchase that has it",
            """
            SELECT known.id FROM renewald.original_key AS known
            LEFT JOIN renewald.purchase ON purchase.shard = known.shard
                AND purchase.id = known.id AND purchase.original_id = known.original_id
            WHERE purchase.id IS NULL
            """
        ),
        (
            "all rows of a user are in the user's shard",
            """
            SELECT user_id FROM renewald.purchase WHERE shard <> renewald.shard_of(user_id)
            UNION ALL
            SELECT user_id FROM renewald.account WHERE shard <> renewald.shard_of(user_id)
            UNION ALL
            SELECT user_id FROM renewald.entitlement WHERE shard <> renewald.shard_of(user_id)
            UNION ALL
            SELECT user_id FROM renewald.event WHERE shard <> renewald.shard_of(user_id)
            UNION ALL
            SELECT user_id FROM renewald.offer WHERE shard <> renewald.shard_of(user_id)
            """
        ),
        (
            "who has a purchase has an account, and does not claim what is his",
            """
            SELECT purchase.user_id FROM renewald.purchase
            LEFT JOIN renewald.account USING (shard, user_id) WHERE account.version IS NULL
            UNION ALL
            SELECT user_id FROM renewald.purchase JOIN renewald.claimant USING (shard, id, user_id)
            """
        ),
        (
            "an id is one purchase's alone",
            "SELECT id FROM renewald.purchase GROUP BY id HAVING count(*) > 1"
        ),
        ("keys are distinct", "SELECT key FROM renewald.event GROUP BY key HAVING count(*) > 1"),
        (
            "ids are dense",
            """
            SELECT last_id FROM renewald.event_counter
            WHERE last_id <> (SELECT count(*) FROM renewald.event)
                OR last_id <> (SELECT coalesce(max(id), 0) FROM renewald.event)
            """
        ),
        (
            "an event follows from a version that exists",
            """
            SELECT event.id FROM renewald.event
            JOIN renewald.purchase
                ON purchase.shard = event.shard AND purchase.id = event.purchase_id
            WHERE event.purchase_version > purchase.version
            """
        ),
        (
            "the union is what the purchases give",
            """
            (SELECT user_id, entitlement, expires_at FROM renewald.entitlement WHERE active
             EXCEPT \(given))
            UNION ALL
            (\(given)
             EXCEPT SELECT user_id, entitlement, expires_at FROM renewald.entitlement WHERE active)
            """
        ),
        (
            "what is held is listed, and what is listed is held",
            """
            SELECT purchase.id FROM renewald.purchase
            WHERE (purchase.access = 'held') <> (purchase.held_at IS NOT NULL)
                OR (purchase.access = 'held') <> EXISTS (
                    SELECT FROM renewald.held_revocation AS held
                    WHERE held.shard = purchase.shard AND held.purchase_id = purchase.id
                        AND held.held_at = purchase.held_at)
            UNION ALL
            SELECT held.purchase_id FROM renewald.held_revocation AS held
            LEFT JOIN renewald.purchase ON purchase.shard = held.shard
                AND purchase.id = held.purchase_id
                AND held.entitlement = ANY (purchase.holding_entitlements)
            WHERE purchase.id IS NULL
            """
        ),
        (
            "grants and revokes take turns",
            """
            SELECT id FROM (
                SELECT id, kind,
                    lag(kind, 1, 'revoke') OVER (PARTITION BY user_id, entitlement ORDER BY id)
                        AS before
                FROM renewald.event WHERE kind <> 'notice') AS step
            WHERE kind = before
            """
        ),
        (
            "who was told a grant last holds it",
            """
            SELECT held.user_id FROM renewald.entitlement AS held
            WHERE active IS DISTINCT FROM (
                SELECT kind = 'grant' FROM renewald.event
                WHERE event.user_id = held.user_id AND event.entitlement = held.entitlement
                ORDER BY id DESC LIMIT 1)
            """
        ),
    ]

    private static let given = """
        SELECT user_id, entitlement, CASE WHEN bool_and(ending IS NOT NULL) THEN
            to_timestamp(max(ending) / 1000000) + max(ending) % 1000000 * interval '1 microsecond' END
        FROM renewald.purchase, unnest(holding_entitlements, holding_ends)
            AS holding (entitlement, ending)
        WHERE access <> 'none' GROUP BY user_id, entitlement
        """

    /// The rules that do not hold.
    package static func broken(_ connection: PostgresConnection) async throws -> [String] {
        var broken: [String] = []
        for (rule, violations) in rules {
            let query = ScratchCluster.readable(
                "SELECT count(*) FROM (\(violations)) AS violations")
            let found = try await connection.query(PostgresStatement(query))
            if try found[0].int64(0) > 0 { broken.append(rule) }
        }
        return broken
    }
}
