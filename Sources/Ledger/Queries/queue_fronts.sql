-- When the oldest due purchase of one lane is due in each of the given shards: a probe of the queue's index for each.
-- What a crash has left is cleared elsewhere.
-- $1 int4 (lane); $2 int2[] (shards). One row a shard that has any: shard, due_at.
SELECT
    held.shard,
    head.due_at
FROM renewald.every_shard AS held
CROSS JOIN LATERAL (
    SELECT schedule.due_at
    FROM renewald.schedule
    WHERE schedule.shard = held.shard
      AND schedule.lane = $1
      AND schedule.due_at <= now()
      AND schedule.crashes = 0
    ORDER BY schedule.due_at
    LIMIT 1
) AS head
WHERE held.shard = ANY ($2::int2[])
