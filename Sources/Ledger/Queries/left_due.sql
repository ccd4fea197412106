-- What is still due since before a pass began, by app, read from the queue's index: of each shard the first 10,000 rows
-- are counted, and as many of what was imported by then and not asked about yet. What another worker has leased is its
-- own, unless no worker that is alive has the app; what a crash has left is counted elsewhere. Of apps that nobody has
-- configured the hundred that came last are looked at.
-- $1 timestamptz (when the pass began); $2 text[] (the stores that were asked). One row an app of which something is
-- due: store, app, configured, paused, blocked_until (where its store wants no calls now), due; whether some of it is
-- leased to workers that do not have the app.
WITH looked_at AS MATERIALIZED (
    (SELECT * FROM renewald.app WHERE app.configured IS NOT false)
    UNION ALL
    (SELECT * FROM renewald.app WHERE app.configured IS false ORDER BY app.lane DESC LIMIT 100)
), free AS MATERIALIZED (
    SELECT shard.shard FROM renewald.shard WHERE shard.lease_until < now()
), served AS MATERIALIZED (
    SELECT unnest(worker.lanes) AS lane
    FROM renewald.worker
    WHERE worker.seen_until > now() AND worker.seen_until <= now() + interval '65 minutes'
), counted AS MATERIALIZED (
    SELECT
        pair.lane, sum(queue.due)::int8 AS due,
        coalesce(sum(queue.due) FILTER (WHERE pair.shard <> ALL (ARRAY(SELECT free.shard FROM free))), 0) > 0 AS held
    FROM (
        SELECT place.shard, unnest(ARRAY(
            SELECT looked_at.lane FROM looked_at WHERE looked_at.store = ANY ($2::text[]))) AS lane
        FROM renewald.every_shard AS place
    ) AS pair
    JOIN looked_at ON looked_at.lane = pair.lane
    CROSS JOIN LATERAL (
        SELECT count(*) AS due
        FROM (
            (
                SELECT 1
                FROM renewald.schedule
                WHERE schedule.shard = pair.shard
                  AND schedule.lane = pair.lane
                  AND schedule.due_at <= $1
                  AND schedule.crashes = 0
                LIMIT 10000
            )
            UNION ALL
            (
                SELECT 1
                FROM renewald.schedule
                WHERE schedule.shard = pair.shard
                  AND schedule.lane = pair.lane
                  AND schedule.due_at >= '9000-01-01 00:00+00'
                  AND schedule.due_at <= $1 + interval '7000 years'
                  AND schedule.crashes = 0
                LIMIT 10000
            )
        ) AS first
    ) AS queue
    WHERE pair.shard = ANY (ARRAY(SELECT free.shard FROM free))
       OR looked_at.configured IS NOT false
      AND pair.lane <> ALL (ARRAY(SELECT served.lane FROM served))
    GROUP BY pair.lane
)
SELECT
    looked_at.store, looked_at.app, looked_at.configured IS NOT false AS configured,
    bucket.paused_at IS NOT NULL AS paused,
    CASE WHEN bucket.blocked_until > now() THEN bucket.blocked_until END AS blocked_until, counted.due,
    counted.held
FROM counted
JOIN looked_at USING (lane)
LEFT JOIN renewald.bucket ON bucket.bucket = looked_at.store || '/' || looked_at.app
WHERE counted.due > 0
ORDER BY looked_at.store, looked_at.app
