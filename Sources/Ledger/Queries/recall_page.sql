-- What of one lane was asked about last in the future, before the clock was set back, and is not due. It reads the
-- whole schedule, as no index has these times. A plain read.
-- $1 int4 (lane); $2 int4 (how many at most). One row a purchase: its place.
SELECT schedule.shard, schedule.due_at, schedule.id
FROM renewald.schedule
WHERE schedule.lane = $1
  AND schedule.due_at > now() + interval '1 minute'
  AND schedule.due_at < '9000-01-01 00:00+00'
  AND schedule.crashes = 0
  AND coalesce(schedule.in_vain_at, schedule.checked_at) > now() + interval '1 minute'
LIMIT $2
