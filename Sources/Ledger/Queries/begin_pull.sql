-- Lets one worker at a time read a source of hints, and not before it is due.
-- $1 text (source); $2 uuid (worker); $3 int8 (lease, microseconds); $4 bool (also before it is due). One
-- row when this worker may: where to go on, failures in a row, now; none otherwise.
INSERT INTO renewald.hint_source (source, owner, lease_until)
VALUES ($1, $2, now() + $3 * interval '1 microsecond')
ON CONFLICT (source) DO UPDATE
SET owner = excluded.owner, lease_until = excluded.lease_until
WHERE hint_source.lease_until <= now() AND (hint_source.pull_at <= now() OR $4)
RETURNING position, failures, now() AS now
