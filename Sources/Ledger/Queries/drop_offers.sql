-- Forgets what users may be offered: it is no longer kept. No rows.
DELETE FROM renewald.offer
USING unnest($rows) AS gone (
    shard int2, user_id text, store text, app text, subscription_group text
)
WHERE offer.shard = gone.shard
  AND offer.user_id = gone.user_id
  AND offer.store = gone.store
  AND offer.app = gone.app
  AND offer.subscription_group = gone.subscription_group
