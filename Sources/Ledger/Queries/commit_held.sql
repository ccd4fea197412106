-- Lists revocations that are held, under the trip of their app. A row a purchase and entitlement. No rows.
INSERT INTO renewald.held_revocation (shard, purchase_id, entitlement, reason, held_at, trip_id)
SELECT
    given.shard, given.purchase_id, given.entitlement, given.reason, given.held_at,
    breaker.trip_id
FROM unnest($rows) AS given (
    shard int2, purchase_id int8, entitlement text, reason text, held_at timestamptz, lane int4
)
LEFT JOIN renewald.breaker ON breaker.lane = given.lane
ON CONFLICT (shard, purchase_id, entitlement) DO UPDATE SET reason = excluded.reason
