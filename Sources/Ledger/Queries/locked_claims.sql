-- Which claims in hand cannot be committed because another session holds a row of theirs. Waits for
-- nobody, and lets go at once of what it could lock. One row for each claim with a row that is held: whether its
-- place in the schedule is free.
SELECT claim.shard, claim.id, place.free IS TRUE AS is_movable
FROM unnest($rows) AS claim (shard int2, lane int4, id int8, due_at timestamptz, user_id text)
LEFT JOIN LATERAL (
    SELECT true AS free
    FROM renewald.purchase AS kept
    WHERE kept.shard = claim.shard AND kept.id = claim.id
    FOR NO KEY UPDATE SKIP LOCKED
) AS purchase ON true
LEFT JOIN LATERAL (
    SELECT true AS free
    FROM renewald.account AS kept
    WHERE kept.shard = claim.shard AND kept.user_id = claim.user_id
    FOR NO KEY UPDATE SKIP LOCKED
) AS account ON true
LEFT JOIN LATERAL (
    SELECT true AS free
    FROM renewald.schedule AS kept
    WHERE kept.shard = claim.shard AND kept.lane = claim.lane AND kept.due_at = claim.due_at
      AND kept.id = claim.id
    FOR NO KEY UPDATE SKIP LOCKED
) AS place ON true
WHERE (purchase.free AND account.free AND place.free) IS NOT TRUE
