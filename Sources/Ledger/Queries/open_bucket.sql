-- Begins the row of calls of a bucket that has none yet.
-- $1 text (bucket). No rows.
INSERT INTO renewald.bucket (bucket) VALUES ($1) ON CONFLICT DO NOTHING
