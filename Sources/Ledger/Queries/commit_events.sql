-- Writes events, numbered in the order of the commits. The last statement of a commit, because the
-- counter's row stays locked until it ends. No rows.
WITH counter AS (
    UPDATE renewald.event_counter
    SET last_id = last_id + cardinality($shard)
    RETURNING last_id - cardinality($shard) AS before
)
INSERT INTO renewald.event (
    shard, key, id, kind, reason, user_id, entitlement, purchase_id, purchase_version, store,
    app, environment, product, order_id, effective_at, expires_at, detail)
SELECT
    told.shard,
    renewald.event_key(
        told.purchase_id::text, told.purchase_version::text, told.kind, told.reason,
        told.user_id, told.entitlement, told.product, coalesce(told.refunded_order, told.order_id),
        extract(epoch FROM told.effective_at)::text, extract(epoch FROM told.expires_at)::text),
    counter.before + told.number, told.kind, told.reason, told.user_id, told.entitlement,
    told.purchase_id, told.purchase_version, told.store, told.app, told.environment,
    told.product, told.order_id, told.effective_at, told.expires_at,
    told.detail::jsonb
FROM counter, unnest($rows) WITH ORDINALITY AS told (
    shard int2, kind text, reason text, user_id text, entitlement text, purchase_id int8,
    purchase_version int8, store text, app text, environment text, product text, order_id text,
    effective_at timestamptz, expires_at timestamptz, refunded_order text, detail text, number
)
