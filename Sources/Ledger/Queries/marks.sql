-- By what the claims in hand are known now: to find those that were moved by another. One row for each
-- claim that still stands.
SELECT schedule.shard, schedule.id, purchase.version
FROM unnest($rows) AS known (shard int2, lane int4, id int8, due_at timestamptz)
JOIN renewald.schedule
    ON schedule.shard = known.shard AND schedule.lane = known.lane
    AND schedule.due_at = known.due_at AND schedule.id = known.id
JOIN renewald.purchase ON purchase.shard = known.shard AND purchase.id = known.id
