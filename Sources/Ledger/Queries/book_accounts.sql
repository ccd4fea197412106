-- The versions of the given users' accounts.
-- $1 int2[] and $2 text[] (shards and user ids). One row a user.
SELECT account.user_id, account.version
FROM unnest($1::int2[], $2::text[]) AS reader (shard, user_id)
JOIN renewald.account ON account.shard = reader.shard AND account.user_id = reader.user_id
