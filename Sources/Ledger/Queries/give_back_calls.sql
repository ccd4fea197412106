-- Gives back the end of a stretch of a row of calls, which a stopping worker needs no more. Nothing happens where another
-- stretch follows it.
-- $1 text (bucket); $2 timestamptz (when the stretch ends); $3 int8 (what is given back, microseconds). No rows.
UPDATE renewald.bucket SET free_at = free_at - $3::int8 * interval '1 microsecond'
WHERE bucket = $1 AND free_at = $2
