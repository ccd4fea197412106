-- Reserves the next stretch of the row of calls of a bucket: no two stretches overlap, so that no window
-- ever holds more than the rate, whoever asks.
-- $1 text (bucket); $2 int8 (the stretch, microseconds). One row: how long from now until it begins
-- (microseconds).
INSERT INTO renewald.bucket (bucket, free_at)
VALUES ($1, now() + $2 * interval '1 microsecond')
ON CONFLICT (bucket) DO UPDATE
SET free_at = greatest(bucket.free_at, bucket.blocked_until, now()) + $2 * interval '1 microsecond'
RETURNING
    (extract(epoch FROM free_at - $2 * interval '1 microsecond' - now()) * 1000000)::int8
        AS wait_microseconds
