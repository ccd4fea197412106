-- Stores what users may be offered from now on.
-- $1 int2[], $2 text[], $3 text[], $4 text[], $5 text[] (shards, user ids, stores, apps, groups), then
-- a column an array. No rows.
INSERT INTO renewald.offer (
    shard, user_id, store, app, subscription_group, introductory_eligible, promotional_eligible,
    reason, as_of)
SELECT offered.*
FROM unnest(
    $1::int2[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bool[], $7::bool[],
    $8::text[], $9::timestamptz[]
) AS offered
ON CONFLICT (shard, user_id, store, app, subscription_group) DO UPDATE
SET introductory_eligible = excluded.introductory_eligible,
    promotional_eligible = excluded.promotional_eligible, reason = excluded.reason,
    as_of = excluded.as_of
