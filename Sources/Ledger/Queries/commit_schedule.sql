-- Moves each purchase to its next check; fails when one was made due anew or moved by another since it
-- was claimed. heard: a verdict; stated_at: the newest time of statement; in_vain_since, in_vain_at: asked in
-- vain since and last; heard_mark: of what is kept from now on, null where that stays. One row.
WITH next AS MATERIALIZED (
    SELECT next.*, CASE WHEN next.heard THEN now() END AS checked_at
    FROM unnest($rows) AS next (
        shard int2, lane int4, id int8, claimed_due_at timestamptz, due_at timestamptz,
        attempts int2, heard bool, problem text, stated_at timestamptz, in_vain_since timestamptz,
        in_vain_at timestamptz, heard_mark int8
    )
), moved AS (
    UPDATE renewald.schedule
    SET due_at = next.due_at, attempts = next.attempts, crashes = 0, problem = next.problem,
        stated_at = next.stated_at, in_vain_since = next.in_vain_since, in_vain_at = next.in_vain_at,
        heard_mark = coalesce(next.heard_mark, schedule.heard_mark),
        checked_at = coalesce(next.checked_at, schedule.checked_at)
    FROM next
    WHERE schedule.shard = next.shard
      AND schedule.lane = next.lane
      AND schedule.due_at = next.claimed_due_at
      AND schedule.id = next.id
    RETURNING 1
)
SELECT renewald.require(
    count(*) = cardinality($shard), 'the place of a purchase in the schedule')
FROM moved
