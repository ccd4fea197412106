-- Raises the versions of the users whose union is taken anew; fails when one has
-- been moved by another.
-- $1 int2[], $2 text[], $3 int8[] (shards, user ids, known versions). One row.
WITH moved AS (
    UPDATE renewald.account
    SET version = account.version + 1
    FROM unnest($1::int2[], $2::text[], $3::int8[]) AS known (shard, user_id, version)
    WHERE account.shard = known.shard
      AND account.user_id = known.user_id
      AND account.version = known.version
    RETURNING 1
)
SELECT renewald.require(count(*) = cardinality($1), 'the version of an account') FROM moved
