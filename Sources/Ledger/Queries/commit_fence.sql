-- Fails unless this worker still owns all the shards; locks their rows, so that nobody takes one over
-- before the commit. worker: a uuid. One row.
WITH owned AS (
    SELECT 1
    FROM renewald.shard
    JOIN unnest($rows) AS held (shard int2, epoch int8) ON shard.shard = held.shard
    WHERE shard.epoch = held.epoch
      AND shard.owner = $worker
      AND shard.lease_until > now()
    ORDER BY shard.shard
    FOR NO KEY UPDATE OF shard
)
SELECT renewald.require(count(*) = cardinality($shard), 'the lease of a shard') FROM owned
