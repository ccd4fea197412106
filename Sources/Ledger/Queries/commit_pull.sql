-- Stores where a source of hints goes on; fails when another worker has it. Where its calls are limited by the day, those
-- that were made so far count from then on, also if nothing more is heard of who reads it.
-- $1 text (source); $2 uuid (worker); $3 text (position, or null: it stays); $4 int8 (lease,
-- microseconds); $5 int8 (microseconds until it is due, or null: that stays). One row.
WITH held AS (
    UPDATE renewald.hint_source
    SET position = coalesce($3, hint_source.position), pulled_at = now(),
        lease_until = now() + $4 * interval '1 microsecond',
        pull_at = coalesce(now() + $5::int8 * interval '1 microsecond', hint_source.pull_at)
    WHERE source = $1
      AND owner = $2
      AND lease_until > now()
    RETURNING 1
)
SELECT renewald.require(count(*) = 1, 'the lease of a source of hints') FROM held
