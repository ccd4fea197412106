-- Leases up to $3 shards whose lease has run out. A lost race takes nothing.
-- $1 uuid (worker); $2 int8 (lease, microseconds); $3 int4. One row a shard: its new epoch, whether the
-- last owner left it in order, and what that owner had in hand.
UPDATE renewald.shard
SET owner = $1, epoch = shard.epoch + 1, lease_until = now() + $2 * interval '1 microsecond',
    clean = false, in_hand = '{}'
FROM (
    SELECT free.shard, free.epoch, free.clean, free.in_hand
    FROM renewald.shard AS free
    WHERE free.lease_until < now()
    ORDER BY free.lease_until, free.shard
    LIMIT $3
) AS free
WHERE shard.shard = free.shard
  AND shard.epoch = free.epoch
  AND shard.lease_until < now()
RETURNING shard.shard, shard.epoch, free.clean, free.in_hand
