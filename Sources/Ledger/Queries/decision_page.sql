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
LEFT JOIN LATERAL (
    SELECT
        evidence.at, evidence.record, evidence.policy, evidence.state_before,
        evidence.access_before, evidence.state, evidence.access
    FROM renewald.evidence
    WHERE evidence.purchase_id = next.id AND evidence.at >= $4 AND evidence.record IS NOT NULL
    -- Purchase by purchase, by the index: a plan that does not know $3 would read all evidence for each page.
    OFFSET 0
) AS kept ON true
ORDER BY next.shard, next.id, kept.at
