-- The apps that some worker has configured and another one has not, of those that are alive (`count_workers.sql`).
-- $1 uuid (a worker, or none). One row an app: store, app; whether that worker lacks it; the names of who does.
WITH alive AS MATERIALIZED (
    SELECT worker.id, worker.name, worker.lanes
    FROM renewald.worker
    WHERE worker.seen_until > now() AND worker.seen_until <= now() + interval '65 minutes'
      AND worker.lanes <> '{}'
), served AS MATERIALIZED (
    SELECT DISTINCT lane.number
    FROM alive
    CROSS JOIN LATERAL unnest(alive.lanes) AS lane (number)
)
SELECT
    app.store, app.app, bool_or(alive.id = $1) AS is_lacking, array_agg(alive.name ORDER BY alive.name) AS without
FROM served
JOIN renewald.app ON app.lane = served.number
JOIN alive ON served.number <> ALL (alive.lanes)
GROUP BY app.store, app.app
ORDER BY app.store, app.app
