-- How long until a source of hints may be read.
-- $1 text (source). One row: wait_microseconds int8, nought or less for now.
SELECT coalesce(max(
    (extract(epoch FROM greatest(pull_at, lease_until) - now()) * 1000000)::int8), 0)
        AS wait_microseconds
FROM renewald.hint_source
WHERE source = $1
