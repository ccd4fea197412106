-- Stores what stores are to be asked with from now on; fails unless each is there.
-- $1 int2[], $2 int8[], $3 text[] (shards, ids, tokens). One row.
WITH renamed AS (
    UPDATE renewald.credential
    SET asked_with = named.token
    FROM unnest($1::int2[], $2::int8[], $3::text[]) AS named (shard, id, token)
    WHERE credential.shard = named.shard
      AND credential.id = named.id
    RETURNING 1
)
SELECT renewald.require(count(*) = cardinality($1), 'the credential of a purchase') FROM renamed
