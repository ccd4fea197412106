-- Moves each purchase to its next check; fails when one was made due anew or moved
-- by another since it was claimed.
-- $1 int2[], $2 int4[], $3 int8[], $4 timestamptz[] (shards, lanes, ids, the due times of the claim);
-- $5 timestamptz[] (next due), $6 int2[] (attempts), $7 bool[] (a verdict was heard), $8 text[]
-- (problems); $9 timestamptz[] (newest times of statement), $10 and $11 timestamptz[] (asked in vain since
-- and last). One row.
WITH moved AS (
    UPDATE renewald.schedule
    SET due_at = next.due_at, attempts = next.attempts, crashes = 0, problem = next.problem,
        stated_at = greatest(schedule.stated_at, next.stated_at),
        in_vain_since = next.in_vain_since, in_vain_at = next.in_vain_at,
        checked_at = CASE WHEN next.heard THEN now() ELSE schedule.checked_at END
    FROM unnest(
        $1::int2[], $2::int4[], $3::int8[], $4::timestamptz[], $5::timestamptz[], $6::int2[],
        $7::bool[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[]
    ) AS next (
        shard, lane, id, claimed_due_at, due_at, attempts, heard, problem, stated_at, in_vain_since,
        in_vain_at
    )
    WHERE schedule.shard = next.shard
      AND schedule.lane = next.lane
      AND schedule.due_at = next.claimed_due_at
      AND schedule.id = next.id
    RETURNING 1
)
SELECT renewald.require(count(*) = cardinality($1), 'the place of a purchase in the schedule') FROM moved
