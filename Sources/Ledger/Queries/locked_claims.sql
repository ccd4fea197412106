-- Which claims in hand cannot be committed because another session holds a row of theirs. Waits for
-- nobody, and lets go at once of what it could lock. One row for each claim with a row that is held: whether its
-- place in the schedule is free.
WITH claim AS MATERIALIZED (
    SELECT claim.* FROM unnest($rows) AS claim (shard int2, lane int4, id int8, due_at timestamptz, user_id text)
), part AS MATERIALIZED (
    SELECT
        claim.shard, array_agg(claim.lane) AS lanes, array_agg(claim.due_at) AS due_ats, array_agg(claim.id) AS ids,
        array_agg(claim.user_id) AS users
    FROM claim
    GROUP BY claim.shard
), free AS MATERIALIZED (
    SELECT
        part.shard, holders.purchases, holders.accounts,
        ARRAY(SELECT place.id FROM renewald.lock_places(part.shard, part.lanes, part.due_ats, part.ids) AS place) AS places
    FROM part
    CROSS JOIN LATERAL renewald.lock_holders(part.shard, part.ids, part.users) AS holders
)
SELECT claim.shard, claim.id, claim.id = ANY (free.places) AS is_movable
FROM claim
JOIN free ON free.shard = claim.shard
WHERE claim.id <> ALL (free.purchases)
   OR claim.user_id <> ALL (free.accounts)
   OR claim.id <> ALL (free.places)
