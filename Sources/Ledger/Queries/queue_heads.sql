-- When the first purchase of each lane is due in the given shards: a probe of the queue's index for each
-- pair, and another one where purchases were imported, which are due when nothing else is. What a crash has left is cleared elsewhere.
-- $1 int4[] (lanes); $2 int2[] (shards). One row a lane: due_at, null where nothing is scheduled.
SELECT
    lane.number AS lane,
    CASE
        WHEN EXISTS (
            SELECT
            FROM renewald.backfill
            CROSS JOIN unnest($2::int2[]) AS held (shard)
            CROSS JOIN LATERAL (
                SELECT
                FROM renewald.schedule
                WHERE schedule.shard = held.shard
                  AND schedule.lane = lane.number
                  AND schedule.due_at >= '9000-01-01 00:00+00'
                  AND schedule.due_at < '9999-12-31 00:00+00'
                  AND schedule.crashes = 0
                LIMIT 1
            ) AS waiting
            WHERE backfill.lane = lane.number
        )
        THEN least(min(head.due_at), now())
        ELSE min(head.due_at)
    END AS due_at,
    now() AS now
FROM unnest($1::int4[]) AS lane (number)
CROSS JOIN unnest($2::int2[]) AS held (shard)
LEFT JOIN LATERAL (
    SELECT schedule.due_at
    FROM renewald.schedule
    WHERE schedule.shard = held.shard
      AND schedule.lane = lane.number
      AND schedule.crashes = 0
    ORDER BY schedule.due_at
    LIMIT 1
) AS head ON true
GROUP BY lane.number
