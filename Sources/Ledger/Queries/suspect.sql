-- Counts a crash against the purchases that were in hand when the process ended; at the third they are
-- set aside.
-- $1 int2[] and $2 int8[] (shards and ids); $3 int2 (the limit); $4 text (the problem). One row each.
UPDATE renewald.schedule
SET crashes = schedule.crashes + 1,
    due_at = CASE WHEN schedule.crashes + 1 >= $3 THEN '9999-12-31 00:00+00' ELSE schedule.due_at END,
    problem = CASE WHEN schedule.crashes + 1 >= $3 THEN $4 ELSE schedule.problem END
FROM unnest($1::int2[], $2::int8[]) AS suspect (shard, id)
WHERE schedule.shard = suspect.shard
  AND schedule.id = suspect.id
  AND schedule.due_at <= now()
RETURNING schedule.id, schedule.crashes
