-- Sets purchases aside whose rows cannot be read, so that they do not come due again and again. One row a
-- purchase that was set aside.
UPDATE renewald.schedule
SET due_at = '9999-12-31 00:00+00', problem = bad.problem
FROM unnest($rows) AS bad (shard int2, lane int4, due_at timestamptz, id int8, problem text)
WHERE schedule.shard = bad.shard
  AND schedule.lane = bad.lane
  AND schedule.due_at = bad.due_at
  AND schedule.id = bad.id
RETURNING schedule.id
