-- Every purchase of others that the given users have handed in as well and have no copy of, with what was heard of it
-- last, to be looked at: without its place in the schedule.
-- $1 text[] (user ids). One row a user and a purchase.
WITH purchase AS MATERIALIZED (
    SELECT
        claimant.user_id AS claimant, purchase.*, now() AS due_at, kept.heard,
        kept.version AS heard_version, kept.predecessor
    FROM renewald.claimant
    JOIN renewald.purchase ON purchase.shard = claimant.shard AND purchase.id = claimant.id
    LEFT JOIN renewald.observation AS kept ON kept.shard = purchase.shard AND kept.id = purchase.id
    WHERE claimant.user_id = ANY ($1)
      AND claimant.copy_id IS NULL
), {kept_parts}
SELECT
    purchase.claimant, purchase.store, purchase.app, NULL::text AS problem,
    {claim_columns},
    {kept_columns}
FROM known AS purchase
JOIN renewald.credential ON credential.shard = purchase.shard AND credential.id = purchase.id
CROSS JOIN LATERAL (
    SELECT
        credential.shard, purchase.lane, purchase.due_at, purchase.id, 0::int2 AS attempts,
        0::int2 AS crashes, NULL::timestamptz AS checked_at, NULL::timestamptz AS stated_at,
        NULL::int8 AS heard_mark, NULL::timestamptz AS in_vain_since,
        NULL::timestamptz AS in_vain_at
) AS due
