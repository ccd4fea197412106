-- Leases up to $3 shards whose lease has run out, or is longer than any: it was taken before the clock was set back. A
-- lost race takes nothing. A shard that another session holds is left for the next time: its owner may be cut off in
-- the middle of a commit, of which the server does not know yet. Where the last owner did not leave in order, counts a
-- crash against what it had in hand; at the $4th such purchase is set aside. A row that another session holds is not
-- waited for, or nobody could take the shards over: its crash is not counted, and it is due.
-- $1 uuid (worker); $2 int8 (lease, microseconds); $3 int4; $4 int2; $5 text (the problem of what is set
-- aside); $6 int2[] (of these shards alone; null is any). One row a shard: its new epoch, whether it was left in order, what was in hand.
WITH locked AS MATERIALIZED (
    SELECT shard.shard, shard.clean, shard.in_hand
    FROM renewald.shard
    WHERE (shard.lease_until < now() OR shard.lease_until > now() + interval '65 minutes')
      AND ($6::int2[] IS NULL OR shard.shard = ANY ($6))
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
    SELECT schedule.shard, schedule.lane, schedule.due_at, schedule.id, schedule.crashes
    FROM taken
    JOIN renewald.schedule ON schedule.shard = taken.shard AND schedule.id = ANY (taken.in_hand)
    WHERE NOT taken.clean
      AND (
          schedule.due_at <= now()
          OR schedule.due_at >= '9000-01-01 00:00+00' AND schedule.due_at < '9999-12-31 00:00+00')
), part AS MATERIALIZED (
    SELECT
        suspect.shard, array_agg(suspect.lane) AS lanes, array_agg(suspect.due_at) AS due_ats,
        array_agg(suspect.id) AS ids
    FROM suspect
    GROUP BY suspect.shard
), locked_place AS MATERIALIZED (
    SELECT
        suspect.shard, suspect.lane, suspect.due_at, suspect.id,
        CASE
            WHEN suspect.crashes + 1 >= $4 THEN '9999-12-31 00:00+00'
            -- What was imported is looked for among the suspects now.
            ELSE least(suspect.due_at, now())
        END AS next_due_at,
        CASE WHEN suspect.crashes + 1 >= $4 THEN $5 END AS problem
    FROM part
    CROSS JOIN LATERAL renewald.lock_places(part.shard, part.lanes, part.due_ats, part.ids) AS free
    JOIN suspect ON suspect.shard = part.shard AND suspect.id = free.id
), counted AS (
    UPDATE renewald.schedule
    SET crashes = schedule.crashes + 1,
        due_at = locked_place.next_due_at,
        problem = coalesce(locked_place.problem, schedule.problem)
    FROM locked_place
    WHERE schedule.shard = locked_place.shard
      AND schedule.lane = locked_place.lane
      AND schedule.due_at = locked_place.due_at
      AND schedule.id = locked_place.id
)
SELECT shard, epoch, clean, in_hand FROM taken
