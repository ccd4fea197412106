-- Writes events, numbered in the order of the commits. The last statement of a commit, because the
-- counter's row stays locked until it ends. is_dated: effective_at is the store's. No rows.
--
-- The key is made of what is the same when the event is decided again, after a restore: neither of our own time nor of
-- how many decisions there were. Where the same has happened before, it is the second, and so on.
WITH counter AS (
    UPDATE renewald.event_counter
    SET last_id = last_id + cardinality($shard)
    RETURNING last_id - cardinality($shard) AS before
), told AS MATERIALIZED (
    SELECT
        told.*,
        ARRAY[
            told.purchase_id::text, told.kind, told.reason, told.user_id, told.entitlement, told.product,
            coalesce(told.refunded_order, told.order_id),
            CASE WHEN told.is_dated THEN extract(epoch FROM told.effective_at)::text END,
            extract(epoch FROM told.expires_at)::text
        ] AS content
    FROM unnest($rows) WITH ORDINALITY AS told (
        shard int2, kind text, reason text, user_id text, entitlement text, purchase_id int8,
        purchase_version int8, store text, app text, environment text, product text, order_id text,
        effective_at timestamptz, is_dated bool, expires_at timestamptz, refunded_order text,
        detail text, number
    )
), counted AS MATERIALIZED (
    SELECT told.*, row_number() OVER (PARTITION BY told.content ORDER BY told.number) - 1 AS same
    FROM told
)
INSERT INTO renewald.event (
    shard, key, id, kind, reason, user_id, entitlement, purchase_id, purchase_version, store,
    app, environment, product, order_id, effective_at, expires_at, detail)
SELECT
    counted.shard, free.key, counter.before + counted.number, counted.kind, counted.reason,
    counted.user_id, counted.entitlement, counted.purchase_id, counted.purchase_version,
    counted.store, counted.app, counted.environment, counted.product, counted.order_id,
    counted.effective_at, counted.expires_at, counted.detail::jsonb
FROM counter, counted
CROSS JOIN LATERAL (
    SELECT nth.key
    FROM (
        SELECT renewald.event_key(VARIADIC counted.content || times.number::text) AS key
        FROM (SELECT generate_series(1, 1000000000) AS number) AS times
        OFFSET 0
    ) AS nth
    WHERE (
        SELECT count(*) FROM renewald.event AS known
        WHERE known.shard = counted.shard AND known.key = nth.key) = 0
    OFFSET counted.same
    LIMIT 1
) AS free
