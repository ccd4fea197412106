-- By what the claims in hand are known now: to find those that were moved by another.
-- $1 int2[], $2 int4[], $3 int8[], $4 timestamptz[] (shards, lanes, ids, due times of the claims). One
-- row for each claim that still stands.
SELECT schedule.shard, schedule.id, purchase.version
FROM unnest($1::int2[], $2::int4[], $3::int8[], $4::timestamptz[]) AS known (shard, lane, id, due_at)
JOIN renewald.schedule
    ON schedule.shard = known.shard AND schedule.lane = known.lane
    AND schedule.due_at = known.due_at AND schedule.id = known.id
JOIN renewald.purchase ON purchase.shard = known.shard AND purchase.id = known.id
