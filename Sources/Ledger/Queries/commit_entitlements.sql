-- Stores what users hold or held from now on. No rows.
INSERT INTO renewald.entitlement ($columns, updated_at)
SELECT held.*, now()
FROM unnest($rows) AS held (
    shard int2, user_id text, entitlement text, active bool, expires_at timestamptz,
    will_renew bool, in_grace bool, reason text, store text, product text, purchase_id int8,
    environment text
)
ON CONFLICT (shard, user_id, entitlement) DO UPDATE
SET active = excluded.active, expires_at = excluded.expires_at,
    will_renew = excluded.will_renew, in_grace = excluded.in_grace, reason = excluded.reason,
    store = excluded.store, product = excluded.product, purchase_id = excluded.purchase_id,
    environment = excluded.environment, updated_at = excluded.updated_at
