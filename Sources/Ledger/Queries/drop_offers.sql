-- Forgets what users may be offered: it is no longer kept.
-- $1 int2[], $2 text[], $3 text[], $4 text[], $5 text[] (shards, user ids, stores, apps, groups). No
-- rows.
DELETE FROM renewald.offer
USING unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::text[])
    AS gone (shard, user_id, store, app, subscription_group)
WHERE offer.shard = gone.shard
  AND offer.user_id = gone.user_id
  AND offer.store = gone.store
  AND offer.app = gone.app
  AND offer.subscription_group = gone.subscription_group
