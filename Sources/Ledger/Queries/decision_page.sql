-- The decisions about the next purchases since a time, as they are kept.
-- $1 int2, $2 int8 (shard and id of the purchase after which to go on), $3 int4 (most purchases),
-- $4 timestamptz. One row a decision, or a purchase without any: its record is null.
WITH next AS MATERIALIZED (
    SELECT known.shard, known.id FROM renewald.purchase AS known
    WHERE (known.shard, known.id) > ($1, $2)
    ORDER BY known.shard, known.id
    LIMIT $3
), kept AS MATERIALIZED (
    SELECT
        evidence.purchase_id, evidence.at, evidence.record, evidence.policy,
        evidence.state_before, evidence.access_before, evidence.state, evidence.access
    -- Purchase by purchase, by the index: a plan that does not know $3 would read all evidence for each page.
    FROM unnest(ARRAY(SELECT next.id FROM next)) AS purchase (id)
    JOIN renewald.evidence ON evidence.purchase_id = purchase.id
    WHERE evidence.at >= $4 AND evidence.record IS NOT NULL
)
SELECT
    next.shard, next.id, kept.at, kept.record, kept.policy, kept.state_before, kept.access_before,
    kept.state, kept.access
FROM next
LEFT JOIN kept ON kept.purchase_id = next.id
ORDER BY next.shard, next.id, kept.at
