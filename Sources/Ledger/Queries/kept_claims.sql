-- Every purchase of the given users as a claim, with what was heard of it last.
-- $1 int2[] and $2 text[] (shards and user ids). One row a purchase.
WITH place AS MATERIALIZED (
    -- The schedule has no index by purchase: read once.
    SELECT schedule.* FROM renewald.schedule WHERE schedule.shard = ANY ($1)
)
SELECT
    app.store, app.app, due.problem,
    {claim_columns},
    {kept_columns}
FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
JOIN renewald.purchase
    ON purchase.shard = reader.shard AND purchase.user_id = reader.user_id
JOIN renewald.credential ON credential.shard = purchase.shard AND credential.id = purchase.id
JOIN renewald.app ON app.lane = purchase.lane
JOIN place AS due
    ON due.shard = purchase.shard AND due.lane = purchase.lane AND due.id = purchase.id
LEFT JOIN renewald.observation AS kept ON kept.shard = purchase.shard AND kept.id = purchase.id
