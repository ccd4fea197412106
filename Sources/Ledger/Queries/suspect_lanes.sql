-- Which of the lanes have something that a crash has left in the given shards: due, or due again within a day where
-- the clock was set back since.
-- $1 int4[] (lanes); $2 int2[] (shards). One row a lane.
SELECT DISTINCT schedule.lane
FROM renewald.schedule
WHERE schedule.shard = ANY ($2::int2[])
  AND schedule.lane = ANY ($1::int4[])
  AND schedule.due_at <= now() + interval '1 day'
  AND schedule.crashes > 0
