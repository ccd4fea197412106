-- Which of the lanes have something that a crash has left in the given shards: due, or due again within a day where
-- the clock was set back since.
-- $1 int4[] (lanes); $2 int2[] (shards). One row a lane.
SELECT lane.number AS lane
FROM unnest($1::int4[]) AS lane (number)
WHERE EXISTS (
    SELECT
    FROM unnest($2::int2[]) AS held (shard)
    JOIN renewald.schedule
        ON schedule.shard = held.shard AND schedule.lane = lane.number
    WHERE schedule.due_at <= now() + interval '1 day'
      AND schedule.crashes > 0)
