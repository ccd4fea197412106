-- Every purchase of the given users: what their unions are taken over.
-- $1 int2[] and $2 text[] (shards and user ids). One row a purchase.
SELECT
    purchase.shard, purchase.lane, purchase.id, purchase.user_id, purchase.product,
    purchase.created_at, purchase.claimed_by_others, purchase.claimed_by, purchase.version,
    purchase.environment, purchase.kind, purchase.state, purchase.access, purchase.paid_through,
    purchase.expires_at, purchase.auto_renew, purchase.order_id, purchase.original_id,
    purchase.period, purchase.phase, purchase.subscription_group, purchase.used_introductory,
    purchase.stated_at, purchase.lapse, purchase.signals,
    purchase.doubt, purchase.doubt_since, purchase.holding_entitlements,
    purchase.holding_products, purchase.holding_ends,
    coalesce(credential.asked_with, credential.token) AS token,
    credential.store_user_id, purchase.account_token, purchase.ownership
FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
JOIN renewald.purchase
    ON purchase.shard = reader.shard AND purchase.user_id = reader.user_id
JOIN renewald.credential ON credential.shard = purchase.shard AND credential.id = purchase.id
