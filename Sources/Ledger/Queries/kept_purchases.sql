-- Every purchase of the given users with what was heard of it last, to be decided about in thought: without
-- its place in the schedule.
-- $1 int2[] and $2 text[] (shards and user ids). One row a purchase.
WITH reader AS MATERIALIZED (
    SELECT * FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
), purchase AS MATERIALIZED (
    SELECT purchase.*, kept.heard, kept.version AS heard_version, kept.predecessor, now() AS due_at
    FROM reader
    JOIN renewald.purchase
        ON purchase.shard = reader.shard AND purchase.user_id = reader.user_id
    LEFT JOIN renewald.observation AS kept ON kept.shard = purchase.shard AND kept.id = purchase.id
), {kept_parts}
SELECT
    purchase.store, purchase.app, NULL::text AS problem,
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
