-- Leases up to $3 shards whose lease has run out; a lost race takes nothing. A shard that another session holds is
-- left for the next time: its owner may be cut off in the middle of a commit, of which the server does not know
-- yet. Where the last owner did not leave in order, counts a crash against what it had in hand; at the $4th such
-- purchase is set aside. A row that another session holds is not waited for, or nobody could take the shards over:
-- its crash is not counted, and it is due.
-- $1 uuid (worker); $2 int8 (lease, microseconds); $3 int4; $4 int2; $5 text (the problem of what is set
-- aside). One row a shard: its new epoch, whether it was left in order, what was in hand.
WITH locked AS MATERIALIZED (
    SELECT shard.shard, shard.clean, shard.in_hand
    FROM renewald.shard
    WHERE shard.lease_until < now()
    ORDER BY shard.lease_until, shard.shard
    LIMIT $3
    FOR NO KEY UPDATE OF shard SKIP LOCKED
), taken AS (
    UPDATE renewald.shard
    SET owner = $1, epoch = shard.epoch + 1,
        lease_until = now() + $2 * interval '1 microsecond', clean = false, in_hand = '{}'
    FROM locked
    WHERE shard.shard = locked.shard
    RETURNING shard.shard, shard.epoch, locked.clean, locked.in_hand
), suspect AS MATERIALIZED (
    SELECT schedule.shard, schedule.lane, schedule.due_at, schedule.id
    FROM taken
    JOIN renewald.schedule ON schedule.shard = taken.shard AND schedule.id = ANY (taken.in_hand)
    WHERE NOT taken.clean
      AND (
          schedule.due_at <= now()
          OR schedule.due_at >= '9000-01-01 00:00+00' AND schedule.due_at < '9999-12-31 00:00+00')
    FOR NO KEY UPDATE OF schedule SKIP LOCKED
), counted AS (
    UPDATE renewald.schedule
    SET crashes = schedule.crashes + 1,
        due_at = CASE
            WHEN schedule.crashes + 1 >= $4 THEN '9999-12-31 00:00+00'
            -- What was imported is looked for among the suspects now.
            ELSE least(schedule.due_at, now())
        END,
        problem = CASE WHEN schedule.crashes + 1 >= $4 THEN $5 ELSE schedule.problem END
    FROM suspect
    WHERE schedule.shard = suspect.shard
      AND schedule.lane = suspect.lane
      AND schedule.due_at = suspect.due_at
      AND schedule.id = suspect.id
)
SELECT shard, epoch, clean, in_hand FROM taken
