-- Reserves the next stretch of the row of calls of a bucket: no two stretches overlap, so that no window
-- ever holds more than the rate, whoever asks. What is further ahead than any reservation or block can
-- be was written before the clock was set back: the row begins anew.
-- $1 text (bucket); $2 int8 (the stretch, microseconds). One row: how long from now until it begins
-- (microseconds).
INSERT INTO renewald.bucket (bucket, free_at)
VALUES ($1, now() + $2 * interval '1 microsecond')
ON CONFLICT (bucket) DO UPDATE
SET free_at = greatest(
        CASE
            WHEN bucket.free_at <= greatest(bucket.blocked_until, now())
                + greatest(interval '2 minutes', 100 * $2 * interval '1 microsecond')
            THEN bucket.free_at
        END,
        CASE WHEN bucket.blocked_until <= now() + interval '65 minutes' THEN bucket.blocked_until END,
        now()) + $2 * interval '1 microsecond'
RETURNING
    (extract(epoch FROM free_at - $2 * interval '1 microsecond' - now()) * 1000000)::int8
        AS wait_microseconds
