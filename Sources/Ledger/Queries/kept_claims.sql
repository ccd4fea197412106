-- Every purchase of the given users as a claim, with what was heard of it last.
-- $1 int2[] and $2 text[] (shards and user ids). One row a purchase.
WITH reader AS MATERIALIZED (
    SELECT * FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
), purchase AS MATERIALIZED (
    SELECT purchase.*, kept.heard, kept.version AS heard_version, kept.predecessor
    FROM reader
    JOIN renewald.purchase
        ON purchase.shard = reader.shard AND purchase.user_id = reader.user_id
    LEFT JOIN renewald.observation AS kept ON kept.shard = purchase.shard AND kept.id = purchase.id
), {kept_parts}, place AS MATERIALIZED (
    -- The schedule has no index by purchase: its shards are read once. As a join, each purchase would meet all that is
    -- scheduled in its shard; "is true" makes it a look into a table of ids.
    SELECT schedule.* FROM renewald.schedule
    WHERE schedule.shard = ANY ($1)
      AND (schedule.id IN (SELECT purchase.id FROM purchase)) IS TRUE
)
SELECT
    purchase.store, purchase.app, place.problem,
    {claim_columns},
    {kept_columns}
FROM place
JOIN known AS purchase
    ON purchase.shard = place.shard AND purchase.lane = place.lane AND purchase.id = place.id
JOIN renewald.credential ON credential.shard = purchase.shard AND credential.id = purchase.id
CROSS JOIN LATERAL (
    SELECT
        credential.shard, place.lane, place.due_at, place.id, place.attempts, place.crashes,
        place.checked_at, place.stated_at, place.heard_mark, place.in_vain_since, place.in_vain_at
) AS due
