-- Lets no call of a bucket start for a while: the store has asked for it. An earlier block that ends
-- further ahead than any can was written before the clock was set back.
-- $1 text (bucket); $2 int8 (microseconds). No rows.
INSERT INTO renewald.bucket (bucket, blocked_until)
VALUES ($1, now() + $2 * interval '1 microsecond')
ON CONFLICT (bucket) DO UPDATE
SET blocked_until = greatest(
    CASE WHEN bucket.blocked_until <= now() + interval '65 minutes' THEN bucket.blocked_until END,
    excluded.blocked_until)
