-- Sets purchases aside whose rows cannot be read, so that they do not come due again and again; for five minutes where
-- that may have changed by then. One row a purchase that was set aside.
UPDATE renewald.schedule
SET due_at = CASE WHEN bad.for_a_while THEN now() + interval '5 minutes' ELSE '9999-12-31 00:00+00' END,
    problem = bad.problem
FROM unnest($rows) AS bad (
    shard int2, lane int4, due_at timestamptz, id int8, problem text, for_a_while bool
)
WHERE schedule.shard = bad.shard
  AND schedule.lane = bad.lane
  AND schedule.due_at = bad.due_at
  AND schedule.id = bad.id
RETURNING schedule.id
