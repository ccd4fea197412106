-- Begins the rows of calls of buckets that have none yet.
-- $1 text[] (buckets). No rows.
INSERT INTO renewald.bucket (bucket)
SELECT wanted.bucket FROM unnest($1::text[]) AS wanted (bucket) ORDER BY wanted.bucket
ON CONFLICT DO NOTHING
