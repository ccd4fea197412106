-- Gives leases back in order: nothing of them is in hand any more.
-- $1 uuid (worker); $2 int2[] and $3 int8[] (shards and epochs). No rows.
UPDATE renewald.shard
SET owner = NULL, lease_until = 'epoch', clean = true, in_hand = '{}'
FROM unnest($2::int2[], $3::int8[]) AS held (shard, epoch)
WHERE shard.shard = held.shard
  AND shard.epoch = held.epoch
  AND shard.owner = $1
