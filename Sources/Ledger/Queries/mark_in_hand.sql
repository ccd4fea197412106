-- Notes which purchases of each shard are about to be asked about; fenced like a commit.
-- $1 uuid (worker); $2 int2[] and $3 int8[] (shards and epochs); $4 text[] (one array literal of ids a
-- shard). One row for each shard that is still owned.
UPDATE renewald.shard
SET in_hand = held.ids::int8[]
FROM unnest($2::int2[], $3::int8[], $4::text[]) AS held (shard, epoch, ids)
WHERE shard.shard = held.shard
  AND shard.epoch = held.epoch
  AND shard.owner = $1
  AND shard.lease_until > now()
RETURNING shard.shard
