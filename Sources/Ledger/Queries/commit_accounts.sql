-- Raises the versions of the users whose union is taken anew; fails when one has been moved by another.
-- A row a user: the known version. One row.
WITH moved AS (
    UPDATE renewald.account
    SET version = account.version + 1
    FROM unnest($rows) AS known (shard int2, user_id text, version int8)
    WHERE account.shard = known.shard
      AND account.user_id = known.user_id
      AND account.version = known.version
    RETURNING 1
)
SELECT renewald.require(count(*) = cardinality($shard), 'the version of an account') FROM moved
