-- How long stores knew before we did, by app, over the revokes among the last 100,000 events that are
-- no older than a day. What ended before it was submitted is history, and what we decide ourselves
-- has no lag. No parameters. One row an app: p50_ms and p99_ms in milliseconds.
SELECT
    event.store, event.app, count(*) AS revokes,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY lag.ms) AS p50_ms,
    percentile_cont(0.99) WITHIN GROUP (ORDER BY lag.ms) AS p99_ms
FROM renewald.event
JOIN renewald.purchase ON purchase.shard = event.shard AND purchase.id = event.purchase_id
CROSS JOIN LATERAL (
    SELECT greatest(
        extract(epoch FROM event.created_at - event.effective_at) * 1000, 0)::float8 AS ms
) AS lag
WHERE event.id > (SELECT last_id - 100000 FROM renewald.event_counter)
  AND event.created_at > now() - interval '1 day'
  AND event.kind = 'revoke'
  AND event.reason NOT IN ('invalid', 'unverifiable', 'manual', 'transferred')
  AND event.effective_at >= purchase.created_at
GROUP BY event.store, event.app
ORDER BY event.store, event.app
