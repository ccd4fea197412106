-- Takes in what they believe: rows by their numbers. No rows.
INSERT INTO renewald.shadow_theirs (n, shard, user_id, entitlement, active)
SELECT given.n, renewald.shard_of(given.user_id), given.user_id, given.entitlement, given.active
FROM unnest($rows) AS given (n int8, user_id text, entitlement text, active bool)
