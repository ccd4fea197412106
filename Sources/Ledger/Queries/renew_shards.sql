-- Renews leases, all at once. Fewer rows than asked: the others are lost.
-- $1 uuid (worker); $2 int8 (lease, microseconds); $3 int2[] and $4 int8[] (shards and epochs); $5 bool[]
-- (nothing of the shard is in hand). One row for each shard that is still owned.
UPDATE renewald.shard
SET lease_until = now() + $2 * interval '1 microsecond',
    in_hand = CASE WHEN held.idle THEN '{}' ELSE shard.in_hand END
FROM unnest($3::int2[], $4::int8[], $5::bool[]) AS held (shard, epoch, idle)
WHERE shard.shard = held.shard
  AND shard.epoch = held.epoch
  AND shard.owner = $1
RETURNING shard.shard
