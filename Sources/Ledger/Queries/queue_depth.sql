-- How much is due now and how much of what was imported waits behind it, by app that is configured, read from the
-- queue's index: of each shard the first 10,000 rows of both are counted, so that a backlog of millions costs no more.
-- No parameters. One row an app; imported and waiting are null where nothing was imported.
WITH depth AS MATERIALIZED (
    SELECT pair.lane, sum(queue.due)::int8 AS due, min(queue.oldest_due_at) AS oldest_due_at
    FROM (
        SELECT place.shard, unnest(ARRAY(SELECT app.lane FROM renewald.app WHERE app.configured IS NOT false)) AS lane
        FROM renewald.every_shard AS place
    ) AS pair
    CROSS JOIN LATERAL (
        SELECT count(*) AS due, min(first.due_at) AS oldest_due_at
        FROM (
            SELECT schedule.due_at
            FROM renewald.schedule
            WHERE schedule.shard = pair.shard
              AND schedule.lane = pair.lane
              AND schedule.due_at <= now()
            ORDER BY schedule.due_at
            LIMIT 10000
        ) AS first
    ) AS queue
    GROUP BY pair.lane
), behind AS MATERIALIZED (
    SELECT pair.lane, sum(queue.waiting)::int8 AS waiting
    FROM (
        SELECT place.shard, unnest(ARRAY(SELECT backfill.lane FROM renewald.backfill)) AS lane
        FROM renewald.every_shard AS place
    ) AS pair
    CROSS JOIN LATERAL (
        SELECT count(*) AS waiting
        FROM (
            SELECT 1
            FROM renewald.schedule
            WHERE schedule.shard = pair.shard
              AND schedule.lane = pair.lane
              AND schedule.due_at >= '9000-01-01 00:00+00'
              AND schedule.due_at < '9999-12-31 00:00+00'
            LIMIT 10000
        ) AS first
    ) AS queue
    GROUP BY pair.lane
)
SELECT
    app.store, app.app, depth.due, depth.oldest_due_at, backfill.total AS imported, behind.waiting, now() AS now
FROM renewald.app
JOIN depth USING (lane)
LEFT JOIN renewald.backfill USING (lane)
LEFT JOIN behind USING (lane)
ORDER BY app.store, app.app
