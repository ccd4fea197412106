-- The next users of the whole fleet.
-- $1 int2, $2 text (shard and user id after whom to go on), $3 int4 (most rows). One row a user.
SELECT account.shard, account.user_id
FROM renewald.account
WHERE (account.shard, account.user_id) > ($1, $2)
ORDER BY account.shard, account.user_id
LIMIT $3
