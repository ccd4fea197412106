-- Lets no call of a bucket start for a while: the store has asked for it.
-- $1 text (bucket); $2 int8 (microseconds). No rows.
INSERT INTO renewald.bucket (bucket, blocked_until)
VALUES ($1, now() + $2 * interval '1 microsecond')
ON CONFLICT (bucket) DO UPDATE
SET blocked_until = greatest(bucket.blocked_until, excluded.blocked_until)
