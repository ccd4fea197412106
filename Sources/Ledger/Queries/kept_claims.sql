-- Every purchase of the given users as a claim, with what was heard of it last.
-- $1 int2[] and $2 text[] (shards and user ids). One row a purchase.
WITH wanted AS MATERIALIZED (
    SELECT purchase.id
    FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
    JOIN renewald.purchase
        ON purchase.shard = reader.shard AND purchase.user_id = reader.user_id
),
place AS MATERIALIZED (
    -- The schedule has no index by purchase: its shards are read once. As a join, each purchase would meet all that is
    -- scheduled in its shard; "is true" makes it a look into a table of ids.
    SELECT schedule.* FROM renewald.schedule
    WHERE schedule.shard = ANY ($1)
      AND (schedule.id IN (SELECT wanted.id FROM wanted)) IS TRUE
)
SELECT
    app.store, app.app, due.problem,
    {claim_columns},
    {kept_columns}
FROM place AS due
JOIN renewald.purchase
    ON purchase.shard = due.shard AND purchase.lane = due.lane AND purchase.id = due.id
JOIN renewald.credential ON credential.shard = purchase.shard AND credential.id = purchase.id
JOIN renewald.app ON app.lane = purchase.lane
LEFT JOIN renewald.observation AS kept ON kept.shard = purchase.shard AND kept.id = purchase.id
