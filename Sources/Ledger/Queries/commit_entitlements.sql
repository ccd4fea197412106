-- Stores what users hold or held from now on.
-- $1 int2[], $2 text[], $3 text[] (shards, user ids, entitlements), then a column an array. No rows.
INSERT INTO renewald.entitlement (
    shard, user_id, entitlement, active, expires_at, will_renew, in_grace, reason, store,
    product, purchase_id, environment, updated_at)
SELECT held.*, now()
FROM unnest(
    $1::int2[], $2::text[], $3::text[], $4::bool[], $5::timestamptz[], $6::bool[], $7::bool[],
    $8::text[], $9::text[], $10::text[], $11::int8[], $12::text[]
) AS held (
    shard, user_id, entitlement, active, expires_at, will_renew, in_grace, reason, store,
    product, purchase_id, environment)
ON CONFLICT (shard, user_id, entitlement) DO UPDATE
SET active = excluded.active, expires_at = excluded.expires_at,
    will_renew = excluded.will_renew, in_grace = excluded.in_grace, reason = excluded.reason,
    store = excluded.store, product = excluded.product, purchase_id = excluded.purchase_id,
    environment = excluded.environment, updated_at = excluded.updated_at
