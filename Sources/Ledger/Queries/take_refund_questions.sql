-- Stores what a store asks about refunds. A further question about an order updates the request that is open, or
-- belongs to one that was answered: Apple asks up to three times, and Google's token names the question. What was
-- stored before is no news. One about an order that a check has found refunded is told, and closed: no answer is sent to
-- the store any more. The notice of each new request is written with it: this is one of the last statements of
-- its transaction, because the counter's row stays locked until that ends.
-- store and app: text. One row a notice.
WITH given AS MATERIALIZED (
    SELECT
        app.lane, asked.*, sha256(convert_to(asked.order_id, 'UTF8')) AS digest,
        sha256(convert_to(asked.original_id, 'UTF8')) AS original_digest
    FROM unnest($rows) WITH ORDINALITY AS asked (
        news text, original_id text, order_id text, environment text, token text, reason text,
        asked_at timestamptz, answer_by timestamptz, account_token text, number
    )
    JOIN renewald.app ON app.store = $store AND app.app = $app
), fresh AS MATERIALIZED (
    SELECT given.*
    FROM given
    WHERE NOT EXISTS (
        SELECT FROM renewald.refund_request AS known
        WHERE known.lane = given.lane AND known.digest = given.digest
          AND given.news = ANY (known.news_ids))
), asked AS MATERIALIZED (
    -- One row an order: the event is about its first question, the last one says how things are.
    SELECT DISTINCT ON (fresh.digest)
        fresh.*, first.news AS first_news, first.asked_at AS first_asked_at,
        ARRAY(
            SELECT further.news FROM fresh AS further
            WHERE further.digest = fresh.digest ORDER BY further.number) AS news_ids
    FROM fresh
    CROSS JOIN LATERAL (
        SELECT earlier.news, earlier.asked_at FROM fresh AS earlier
        WHERE earlier.digest = fresh.digest ORDER BY earlier.number LIMIT 1
    ) AS first
    ORDER BY fresh.digest, fresh.number DESC
), meant AS MATERIALIZED (
    SELECT
        asked.digest,
        coalesce(
            (
                SELECT known.id FROM renewald.original_key AS known
                WHERE known.lane = asked.lane AND known.original_id = asked.original_id
            ), (
                SELECT known.id FROM renewald.order_key AS known
                WHERE known.lane = asked.lane AND known.digest = asked.original_digest
                ORDER BY known.id LIMIT 1
            )) AS purchase_id
    FROM asked
), refunded AS MATERIALIZED (
    SELECT asked.digest
    FROM asked
    JOIN meant ON meant.digest = asked.digest
    JOIN renewald.purchase ON purchase.id = meant.purchase_id
    WHERE purchase.state = 'refunded' AND purchase.order_id = asked.order_id
      -- Of several consumables some may be left (`Facts.isRefundedWhole`).
      AND (
          purchase.kind <> 'consumable' OR purchase.period IS NULL OR purchase.period = purchase.order_id)
), joined AS (
    -- It has been answered: the answer counts.
    UPDATE renewald.refund_request AS known
    SET news_ids = known.news_ids || asked.news_ids, reason = coalesce(asked.reason, known.reason)
    FROM asked
    WHERE known.lane = asked.lane AND known.digest = asked.digest AND known.state = 'answered'
      AND CASE WHEN asked.token IS NULL
          THEN asked.first_asked_at <= known.answer_by
          ELSE asked.token = known.token
      END
    RETURNING known.lane, known.digest
), stored AS (
    INSERT INTO renewald.refund_request AS known (
        lane, digest, original_digest, order_id, original_id, environment, news_ids, purchase_id,
        account_token, token, reason, asked_at, answer_by, state, outcome)
    SELECT
        asked.lane, asked.digest, asked.original_digest, asked.order_id, asked.original_id,
        asked.environment, asked.news_ids, meant.purchase_id,
        asked.account_token, asked.token, asked.reason, asked.first_asked_at, asked.answer_by,
        CASE WHEN refunded.digest IS NULL THEN 'open' ELSE 'closed' END,
        CASE WHEN refunded.digest IS NOT NULL THEN 'refunded' END
    FROM asked
    JOIN meant ON meant.digest = asked.digest
    LEFT JOIN refunded ON refunded.digest = asked.digest
    WHERE NOT EXISTS (SELECT FROM joined WHERE joined.digest = asked.digest)
    ORDER BY asked.number
    ON CONFLICT (lane, digest) WHERE state = 'open' DO UPDATE
    SET news_ids = known.news_ids || excluded.news_ids,
        reason = coalesce(excluded.reason, known.reason),
        token = coalesce(excluded.token, known.token),
        account_token = coalesce(excluded.account_token, known.account_token),
        answer_by = excluded.answer_by, send_at = now(), problem = NULL,
        warned_at = CASE
            WHEN excluded.answer_by > known.answer_by THEN NULL
            ELSE known.warned_at
        END
    RETURNING known.*
), told AS MATERIALIZED (
    SELECT
        stored.*, purchase.user_id, purchase.product, purchase.version,
        coalesce(purchase.shard, renewald.shard_of(stored.order_id)) AS shard,
        renewald.event_key(
            'notice', 'refund_requested', $store, $app, stored.order_id, asked.first_news) AS key,
        row_number() OVER (ORDER BY stored.asked_at, stored.id) AS number
    FROM stored
    JOIN asked ON asked.lane = stored.lane AND asked.digest = stored.digest
    LEFT JOIN renewald.purchase ON purchase.id = stored.purchase_id
    WHERE stored.news_ids = asked.news_ids
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
        told.shard, told.key, counter.before + told.number, 'notice', 'refund_requested',
        told.user_id, told.purchase_id, told.version, $store, $app, told.environment,
        told.product, told.order_id, told.asked_at,
        jsonb_strip_nulls(jsonb_build_object(
            'request_id', told.id, 'reason', told.reason, 'account_token', told.account_token,
            'answer_by',
            to_char(told.answer_by AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'original_id', CASE WHEN told.purchase_id IS NULL THEN told.original_id END))
    FROM told CROSS JOIN counter
)
SELECT
    'refund_requested' AS reason, told.id AS request_id, told.purchase_id, told.user_id,
    told.answer_by
FROM told
ORDER BY told.number
