-- How much is due now, by app that is configured, read from the queue's index: of each shard the first 10,000 rows are
-- counted, so that a backlog of millions costs no more. No parameters. One row an app.
SELECT
    app.store, app.app, sum(queue.due)::int8 AS due, min(queue.oldest_due_at) AS oldest_due_at,
    now() AS now
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
WHERE app.configured IS NOT false
GROUP BY app.store, app.app
ORDER BY app.store, app.app
