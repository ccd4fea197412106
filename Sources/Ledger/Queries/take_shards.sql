-- Leases up to $3 shards whose lease has run out; a lost race takes nothing. Where the last owner did not
-- leave in order, counts a crash against what it had in hand; at the $4th such purchase is set aside.
-- $1 uuid (worker); $2 int8 (lease, microseconds); $3 int4; $4 int2; $5 text (the problem of what is set
-- aside). One row a shard: its new epoch, whether it was left in order, what was in hand.
WITH taken AS (
    UPDATE renewald.shard
    SET owner = $1, epoch = shard.epoch + 1,
        lease_until = now() + $2 * interval '1 microsecond', clean = false, in_hand = '{}'
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
), counted AS (
    UPDATE renewald.schedule
    SET crashes = schedule.crashes + 1,
        due_at = CASE
            WHEN schedule.crashes + 1 >= $4 THEN '9999-12-31 00:00+00'
            ELSE schedule.due_at
        END,
        problem = CASE WHEN schedule.crashes + 1 >= $4 THEN $5 ELSE schedule.problem END
    FROM taken
    WHERE NOT taken.clean
      AND schedule.shard = taken.shard
      AND schedule.id = ANY (taken.in_hand)
      AND schedule.due_at <= now()
)
SELECT shard, epoch, clean, in_hand FROM taken
