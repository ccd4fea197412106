-- Sets purchases aside whose rows cannot be read, so that they do not come due again and again; for five minutes where
-- that may have changed by then. Those that another session holds are left as they are. One row a purchase that was set
-- aside.
WITH bad AS MATERIALIZED (
    SELECT
        schedule.shard, schedule.lane, schedule.due_at, schedule.id, given.problem, given.for_a_while
    FROM unnest($rows) AS given (
        shard int2, lane int4, due_at timestamptz, id int8, problem text, for_a_while bool
    )
    JOIN renewald.schedule
        ON schedule.shard = given.shard AND schedule.lane = given.lane
        AND schedule.due_at = given.due_at AND schedule.id = given.id
    FOR NO KEY UPDATE OF schedule SKIP LOCKED
)
UPDATE renewald.schedule
SET due_at = CASE WHEN bad.for_a_while THEN now() + interval '5 minutes' ELSE '9999-12-31 00:00+00' END,
    problem = bad.problem
FROM bad
WHERE schedule.shard = bad.shard
  AND schedule.lane = bad.lane
  AND schedule.due_at = bad.due_at
  AND schedule.id = bad.id
RETURNING schedule.id
