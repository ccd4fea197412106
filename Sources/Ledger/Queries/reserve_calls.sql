-- Reserves the next places in the row of calls of a bucket: each call has its own time to start, so
-- that no window ever holds more than the rate, whoever asks.
-- $1 text (bucket); $2 int8 (time between two calls, microseconds); $3 int4 (calls). One row: how long
-- from now until the first may start (microseconds), and how long the bucket is blocked.
INSERT INTO renewald.bucket (bucket, free_at)
VALUES ($1, now() + $2 * $3 * interval '1 microsecond')
ON CONFLICT (bucket) DO UPDATE
SET free_at = greatest(bucket.free_at, bucket.blocked_until, now())
    + $2 * $3 * interval '1 microsecond'
RETURNING
    (extract(epoch FROM free_at - $2 * $3 * interval '1 microsecond' - now()) * 1000000)::int8
        AS wait_microseconds
