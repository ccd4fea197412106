-- How long stores knew before we did, by app, over the events among the last 100,000 that are no older than a day:
-- revokes from the end of access at the store, first grants from the submission. What ended before it was submitted is
-- history, what we decide ourselves has no lag, what leniency gave is none, who was to pay yet was not waited for, and
-- what was imported waited its turn: all that came until the last batch of a file, or, where a pipe was imported, which
-- nothing notes, all. $1 int8: how long what is over gives access by the policy, in microseconds. One row
-- an app for all revokes, whose change is null, and one a change, in the words of `renewald plan`: p50_ms and p99_ms in
-- milliseconds.
WITH filled AS MATERIALIZED (
    SELECT
        backfill.lane,
        coalesce(
            (SELECT max(import.updated_at) FROM renewald.import WHERE import.updated_at >= backfill.started_at),
            'infinity') AS until
    FROM renewald.backfill
    WHERE backfill.started_at > now() - interval '1 day'
), event AS MATERIALIZED (
    SELECT late.shard, late.purchase_id, late.store, late.app, late.kind, late.reason, late.created_at, late.effective_at
    FROM renewald.event AS late
    WHERE late.id > (SELECT last_id - 100000 FROM renewald.event_counter)
      AND late.created_at > now() - interval '1 day'
      AND late.kind IN ('revoke', 'grant')
), told AS MATERIALIZED (
    SELECT
        event.store, event.app, event.kind,
        CASE
            WHEN event.kind = 'grant' THEN 'purchase'
            WHEN event.reason IN ('expired', 'cancelled') THEN 'expiry'
            WHEN event.reason = 'refunded' THEN 'refund'
            WHEN event.reason IN ('payment_failed', 'payment_pending') THEN 'payment_failure'
            ELSE 'other'
        END AS change,
        greatest(
            extract(epoch FROM event.created_at - CASE
                WHEN event.kind = 'grant' THEN purchase.created_at
                WHEN event.reason IN ('expired', 'cancelled')
                    AND event.created_at >= event.effective_at + $1 * interval '1 microsecond'
                THEN event.effective_at + $1 * interval '1 microsecond'
                ELSE event.effective_at END) * 1000,
            0)::float8 AS ms
    FROM event
    JOIN renewald.purchase ON purchase.shard = event.shard AND purchase.id = event.purchase_id
    WHERE CASE event.kind
          WHEN 'revoke' THEN event.reason NOT IN ('invalid', 'unverifiable', 'manual', 'transferred')
              AND event.effective_at >= purchase.created_at
          WHEN 'grant' THEN event.reason = 'purchased'
              AND purchase.created_at > now() - interval '1 day'
              AND NOT EXISTS (
                  SELECT 1 FROM renewald.evidence
                  WHERE evidence.shard = event.shard
                    AND evidence.purchase_id = event.purchase_id
                    AND evidence.at < event.created_at
                    AND evidence.state = 'pending')
              AND NOT EXISTS (
                  SELECT 1 FROM filled
                  WHERE filled.lane = purchase.lane AND purchase.created_at <= filled.until)
          ELSE false
      END
)
SELECT
    told.store, told.app, NULL AS change, count(*) AS count,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY told.ms) AS p50_ms,
    percentile_cont(0.99) WITHIN GROUP (ORDER BY told.ms) AS p99_ms
FROM told
WHERE told.kind = 'revoke'
GROUP BY told.store, told.app
UNION ALL
SELECT
    told.store, told.app, told.change, count(*),
    percentile_cont(0.5) WITHIN GROUP (ORDER BY told.ms),
    percentile_cont(0.99) WITHIN GROUP (ORDER BY told.ms)
FROM told
GROUP BY told.store, told.app, told.change
ORDER BY store, app, change
