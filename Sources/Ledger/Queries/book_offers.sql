-- What the given users may be offered.
-- $1 int2[] and $2 text[] (shards and user ids). One row a user, app and group.
SELECT
    offer.user_id, offer.store, offer.app, offer.subscription_group, offer.introductory_eligible,
    offer.promotional_eligible, offer.reason, offer.as_of
FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
JOIN renewald.offer ON offer.shard = reader.shard AND offer.user_id = reader.user_id
