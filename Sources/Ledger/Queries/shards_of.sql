-- The shards of the given users.
-- $1 text[]. One row a user.
SELECT reader.user_id, renewald.shard_of(reader.user_id) AS shard
FROM unnest($1::text[]) AS reader (user_id)
