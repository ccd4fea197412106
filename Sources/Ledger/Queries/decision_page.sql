-- The decisions about the next purchases since a time, as they are kept.
-- $1 int2, $2 int8 (shard and id of the purchase after which to go on), $3 int4 (most purchases),
-- $4 timestamptz. One row a decision, or a purchase without any: its record is null.
SELECT
    next.shard, next.id, kept.at, kept.record, kept.policy, kept.state_before, kept.access_before,
    kept.state, kept.access
FROM (
    SELECT purchase.shard, purchase.id FROM renewald.purchase
    WHERE (purchase.shard, purchase.id) > ($1, $2)
    ORDER BY purchase.shard, purchase.id
    LIMIT $3
) AS next
LEFT JOIN renewald.evidence AS kept
    ON kept.purchase_id = next.id AND kept.at >= $4 AND kept.record IS NOT NULL
ORDER BY next.shard, next.id, kept.at
