-- The differences that a run has seen and that count, by class and cause. What was first seen in the future was so before
-- the clock was set back, and is new.
-- $system text; $run int8; $at timestamptz; $settle int8 (microseconds: how old a difference is that counts).
-- One row a class and cause: differences, users, and how long it has been so on average, in microseconds.
SELECT
    note.class, note.cause, count(*) AS differences, count(DISTINCT note.user_id) AS people,
    greatest(
        avg(extract(epoch FROM $at::timestamptz - coalesce(note.since, note.first_seen_at))) * 1000000,
        0)::int8 AS age
FROM renewald.shadow_difference AS note
WHERE note.system = $system::text AND note.run = $run::int8
    AND least(note.first_seen_at, $at::timestamptz)
        <= $at::timestamptz - $settle::int8 * interval '1 microsecond'
GROUP BY note.class, note.cause
ORDER BY note.class, differences DESC, note.cause
