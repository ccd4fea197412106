-- Fails unless this worker still owns all the shards; locks their rows, so that
-- nobody takes one over before the commit.
-- $1 uuid (worker); $2 int2[] and $3 int8[] (shards and epochs). One row.
WITH owned AS (
    SELECT 1
    FROM renewald.shard
    JOIN unnest($2::int2[], $3::int8[]) AS held (shard, epoch) ON shard.shard = held.shard
    WHERE shard.epoch = held.epoch
      AND shard.owner = $1
      AND shard.lease_until > now()
    ORDER BY shard.shard
    FOR NO KEY UPDATE OF shard
)
SELECT renewald.require(count(*) = cardinality($2), 'the lease of a shard') FROM owned
