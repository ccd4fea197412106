-- Closes requests whose outcome a store has told, and writes a notice of each refund that was declined, also where
-- nobody had heard the question. What was told before is no news. One of the last statements of its transaction,
-- because the counter's row stays locked until that ends.
-- source, store and app: text. One row a notice.
WITH given AS MATERIALIZED (
    SELECT DISTINCT ON (app.lane, ruled.order_id)
        app.lane, ruled.*, sha256(convert_to(ruled.order_id, 'UTF8')) AS digest
    FROM unnest($rows) WITH ORDINALITY AS ruled (news text, order_id text, outcome text, number)
    JOIN renewald.app ON app.store = $store AND app.app = $app
    ORDER BY app.lane, ruled.order_id, ruled.number DESC
), heard AS (
    INSERT INTO renewald.heard_hint (source, digest)
    SELECT DISTINCT $source, sha256(convert_to('refund ruling ' || given.news, 'UTF8')) FROM given
    ON CONFLICT DO NOTHING
    RETURNING digest
), fresh AS MATERIALIZED (
    SELECT given.*
    FROM given
    JOIN heard ON heard.digest = sha256(convert_to('refund ruling ' || given.news, 'UTF8'))
), meant AS MATERIALIZED (
    -- The latest question about the order.
    SELECT DISTINCT ON (fresh.digest) fresh.digest, request.id, request.purchase_id
    FROM fresh
    JOIN renewald.refund_request AS request
        ON request.lane = fresh.lane AND request.digest = fresh.digest
    ORDER BY fresh.digest, request.id DESC
), closed AS (
    UPDATE renewald.refund_request AS request
    SET state = 'closed', outcome = fresh.outcome, sender = NULL, sending_until = NULL
    FROM fresh
    JOIN meant ON meant.digest = fresh.digest
    WHERE request.id = meant.id
), declined AS MATERIALIZED (
    SELECT
        fresh.*, meant.id AS request_id,
        coalesce(meant.purchase_id, (
            SELECT known.id FROM renewald.original_key AS known
            WHERE known.lane = fresh.lane AND known.original_id = fresh.order_id
        )) AS known_id,
        renewald.event_key(
            'notice', 'refund_declined', $store, $app, fresh.order_id, fresh.news) AS key
    FROM fresh
    LEFT JOIN meant ON meant.digest = fresh.digest
    WHERE fresh.outcome = 'declined'
), seen AS MATERIALIZED (
    SELECT declined.lane, declined.order_id, evidence.purchase_id, evidence.at
    FROM declined
    JOIN renewald.evidence ON evidence.order_id = declined.order_id
    WHERE declined.known_id IS NULL
), checked AS MATERIALIZED (
    SELECT DISTINCT ON (seen.order_id) seen.order_id, seen.purchase_id
    FROM seen
    JOIN renewald.purchase ON purchase.id = seen.purchase_id AND purchase.lane = seen.lane
    ORDER BY seen.order_id, seen.at DESC
), found AS MATERIALIZED (
    SELECT declined.*, coalesce(declined.known_id, checked.purchase_id) AS purchase_id
    FROM declined LEFT JOIN checked ON checked.order_id = declined.order_id
), bought AS MATERIALIZED (
    SELECT found.key, purchase.shard, purchase.user_id, purchase.product, purchase.version, purchase.environment
    FROM found JOIN renewald.purchase ON purchase.id = found.purchase_id
), notice AS MATERIALIZED (
    SELECT
        found.*, bought.user_id, bought.product, bought.version, bought.environment,
        coalesce(bought.shard, renewald.shard_of(found.order_id)) AS shard
    FROM found LEFT JOIN bought ON bought.key = found.key
), old AS MATERIALIZED (
    SELECT event.key
    FROM notice JOIN renewald.event ON event.shard = notice.shard AND event.key = notice.key
), told AS MATERIALIZED (
    SELECT notice.*, row_number() OVER (ORDER BY notice.number) AS place
    FROM notice
    WHERE NOT EXISTS (SELECT FROM old WHERE old.key = notice.key)
), counter AS (
    UPDATE renewald.event_counter
    SET last_id = last_id + (SELECT count(*) FROM told)
    WHERE EXISTS (SELECT FROM told)
    RETURNING last_id - (SELECT count(*) FROM told) AS before
), written AS (
    INSERT INTO renewald.event (
        shard, key, id, kind, reason, user_id, purchase_id, purchase_version, store, app,
        environment, product, order_id, effective_at, detail)
    SELECT
        told.shard, told.key, counter.before + told.place, 'notice', 'refund_declined',
        told.user_id, told.purchase_id, told.version, $store, $app, told.environment,
        told.product, told.order_id, now(),
        jsonb_strip_nulls(jsonb_build_object('request_id', told.request_id))
    FROM told CROSS JOIN counter
)
SELECT
    'refund_declined' AS reason, told.request_id, told.purchase_id, told.user_id,
    NULL::timestamptz AS answer_by
FROM told
ORDER BY told.place
