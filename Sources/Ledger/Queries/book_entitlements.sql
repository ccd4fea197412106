-- What the given users hold or held.
-- $1 int2[] and $2 text[] (shards and user ids). One row a user and entitlement.
SELECT
    held.user_id, held.entitlement, held.active, held.expires_at, held.will_renew, held.in_grace,
    held.reason, held.store, held.product, held.purchase_id, held.environment
FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
JOIN renewald.entitlement AS held ON held.shard = reader.shard AND held.user_id = reader.user_id
