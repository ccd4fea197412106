-- Opens accounts for users who get a purchase that another has submitted.
-- $1 int2[], $2 text[] (shards, user ids). No rows.
INSERT INTO renewald.account (shard, user_id)
SELECT * FROM unnest($1::int2[], $2::text[])
ON CONFLICT DO NOTHING
