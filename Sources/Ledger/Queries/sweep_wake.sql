-- Makes these purchases of one lane due, unless they were moved since they were read, or another session holds them; in
-- the order in which commits lock them.
-- $1 int2[], $2 timestamptz[], $3 int8[] (shard, place in the schedule, id of each); $4 int4 (lane). One row: woken.
WITH chosen AS MATERIALIZED (
    SELECT schedule.shard, schedule.lane, schedule.due_at, schedule.id
    FROM unnest($1::int2[], $2::timestamptz[], $3::int8[]) AS given (shard, due_at, id)
    JOIN renewald.schedule
        ON schedule.shard = given.shard AND schedule.lane = $4
        AND schedule.due_at = given.due_at AND schedule.id = given.id
    WHERE schedule.due_at > now()
    ORDER BY schedule.shard, schedule.id
    FOR NO KEY UPDATE OF schedule SKIP LOCKED
), woken AS (
    UPDATE renewald.schedule
    SET due_at = now()
    FROM chosen
    WHERE schedule.shard = chosen.shard
      AND schedule.lane = chosen.lane
      AND schedule.due_at = chosen.due_at
      AND schedule.id = chosen.id
    RETURNING 1
)
SELECT count(*) AS woken FROM woken
