-- When the first purchase of each lane is due in the given shards: a probe of the queue's index for each
-- pair, and another one where purchases were imported, which are due when nothing else is. What a crash has left is cleared elsewhere.
-- $1 int4[] (lanes); $2 int2[] (shards). One row a lane: due_at, null where nothing is scheduled.
SELECT
    pair.lane,
    CASE WHEN bool_or(waiting.is_there) THEN least(min(head.due_at), now()) ELSE min(head.due_at) END AS due_at,
    now() AS now
FROM (
    SELECT held.shard, wanted.lane
    FROM renewald.every_shard AS held
    CROSS JOIN unnest($1::int4[]) AS wanted (lane)
    WHERE held.shard = ANY ($2::int2[])
) AS pair
LEFT JOIN LATERAL (
    SELECT schedule.due_at
    FROM renewald.schedule
    WHERE schedule.shard = pair.shard
      AND schedule.lane = pair.lane
      AND schedule.crashes = 0
    ORDER BY schedule.due_at
    LIMIT 1
) AS head ON true
LEFT JOIN LATERAL (
    SELECT true AS is_there
    FROM renewald.schedule
    WHERE pair.lane = ANY (ARRAY(SELECT backfill.lane FROM renewald.backfill))
      AND schedule.shard = pair.shard
      AND schedule.lane = pair.lane
      AND schedule.due_at >= '9000-01-01 00:00+00'
      AND schedule.due_at < '9999-12-31 00:00+00'
      AND schedule.crashes = 0
    LIMIT 1
) AS waiting ON true
GROUP BY pair.lane
