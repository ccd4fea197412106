-- When the first purchase of each lane is due in the given shards: a probe of the queue's index for each
-- pair. What a crash has left is cleared elsewhere.
-- $1 int4[] (lanes); $2 int2[] (shards). One row a lane: due_at, null where nothing is scheduled.
SELECT lane.number AS lane, min(head.due_at) AS due_at, now() AS now
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
