-- Stores what stores are to be asked with from now on; fails unless each is there. One row.
WITH renamed AS (
    UPDATE renewald.credential
    SET asked_with = named.token
    FROM unnest($rows) AS named (shard int2, id int8, token text)
    WHERE credential.shard = named.shard
      AND credential.id = named.id
    RETURNING 1
)
SELECT renewald.require(count(*) = cardinality($shard), 'the credential of a purchase') FROM renamed
