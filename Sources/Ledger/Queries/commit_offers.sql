-- Stores what users may be offered from now on. No rows.
INSERT INTO renewald.offer ($columns)
SELECT offered.*
FROM unnest($rows) AS offered (
    shard int2, user_id text, store text, app text, subscription_group text,
    introductory_eligible bool, promotional_eligible bool, reason text, as_of timestamptz
)
ON CONFLICT (shard, user_id, store, app, subscription_group) DO UPDATE
SET introductory_eligible = excluded.introductory_eligible,
    promotional_eligible = excluded.promotional_eligible, reason = excluded.reason,
    as_of = excluded.as_of
