-- How much is due now and how much of what was imported waits behind it, by app that is configured, read from the
-- queue's index: of each shard the first 10,000 rows of both are counted, so that a backlog of millions costs no more.
-- No parameters. One row an app; imported and waiting are null where nothing was imported.
SELECT
    app.store, app.app, sum(queue.due)::int8 AS due, min(queue.oldest_due_at) AS oldest_due_at,
    min(backfill.total) AS imported, sum(behind.waiting)::int8 AS waiting, now() AS now
FROM renewald.app
CROSS JOIN renewald.shard
CROSS JOIN LATERAL (
    SELECT count(*) AS due, min(first.due_at) AS oldest_due_at
    FROM (
        SELECT schedule.due_at
        FROM renewald.schedule
        WHERE schedule.shard = shard.shard
          AND schedule.lane = app.lane
          AND schedule.due_at <= now()
        ORDER BY schedule.due_at
        LIMIT 10000
    ) AS first
) AS queue
LEFT JOIN renewald.backfill USING (lane)
LEFT JOIN LATERAL (
    SELECT count(*) AS waiting
    FROM (
        SELECT FROM renewald.schedule
        WHERE schedule.shard = shard.shard
          AND schedule.lane = backfill.lane
          AND schedule.due_at >= '9000-01-01 00:00+00'
          AND schedule.due_at < '9999-12-31 00:00+00'
        LIMIT 10000
    ) AS first
) AS behind ON backfill.lane IS NOT NULL
WHERE app.configured IS NOT false
GROUP BY app.store, app.app
ORDER BY app.store, app.app
