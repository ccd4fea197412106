-- Writes events, numbered in the order of the commits. The last statement of a commit, because the
-- counter's row stays locked until it ends.
-- $1 int2[] (shards), $2 text[] (kinds), then a column an array. No rows.
WITH counter AS (
    UPDATE renewald.event_counter
    SET last_id = last_id + cardinality($1)
    RETURNING last_id - cardinality($1) AS before
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
    jsonb_strip_nulls(jsonb_build_object(
        'heard', told.heard, 'false_renewal', told.false_renewal,
        'previous_product', told.previous_product, 'duration_changed', told.duration_changed,
        'refunded_order', told.refunded_order, 'claimed_by', told.claimed_by))
FROM counter, unnest(
    $1::int2[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int8[], $7::int8[],
    $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::timestamptz[],
    $14::timestamptz[], $15::text[], $16::bool[], $17::text[], $18::bool[],
    $19::text[], $20::text[]
) WITH ORDINALITY AS told (
    shard, kind, reason, user_id, entitlement, purchase_id, purchase_version, store, app,
    environment, product, order_id, effective_at, expires_at, heard, false_renewal,
    previous_product, duration_changed, refunded_order, claimed_by, number)
