-- Stores what stores are to be asked with from now on, in clear or encrypted; fails unless each is there. One row.
WITH renamed AS (
    UPDATE renewald.credential
    SET asked_with = named.token, sealed_asked_with = named.sealed
    FROM unnest($rows) AS named (shard int2, id int8, token text, sealed bytea)
    WHERE credential.shard = named.shard
      AND credential.id = named.id
    RETURNING 1
)
SELECT renewald.require(count(*) = cardinality($shard), 'the credential of a purchase') FROM renamed
