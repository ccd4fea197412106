-- Sets purchases aside whose rows cannot be read, so that they do not come due again and again.
-- $1 int2[], $2 int4[], $3 timestamptz[], $4 int8[] (shards, lanes, due times, ids); $5 text[] (problems). One
-- row a purchase that was set aside.
UPDATE renewald.schedule
SET due_at = '9999-12-31 00:00+00', problem = bad.problem
FROM unnest($1::int2[], $2::int4[], $3::timestamptz[], $4::int8[], $5::text[])
    AS bad (shard, lane, due_at, id, problem)
WHERE schedule.shard = bad.shard
  AND schedule.lane = bad.lane
  AND schedule.due_at = bad.due_at
  AND schedule.id = bad.id
RETURNING schedule.id
