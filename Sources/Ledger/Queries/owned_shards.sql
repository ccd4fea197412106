-- Which of the given leases still hold.
-- $1 uuid (worker); $2 int2[] and $3 int8[] (shards and epochs). One row for each.
SELECT shard.shard
FROM renewald.shard
JOIN unnest($2::int2[], $3::int8[]) AS held (shard, epoch) ON shard.shard = held.shard
WHERE shard.epoch = held.epoch
  AND shard.owner = $1
  AND shard.lease_until > now()
