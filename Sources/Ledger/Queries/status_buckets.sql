-- The quota buckets. No parameters. One row a bucket; the calls before free_at are given away.
SELECT
    bucket, now() AS now, free_at,
    greatest(extract(epoch FROM free_at - now()), 0)::float8 AS ahead_seconds,
    CASE WHEN blocked_until > now() THEN blocked_until END AS blocked_until,
    paused_at
FROM renewald.bucket
ORDER BY bucket
