-- Keeps what was heard of purchases last, and for which version of them it counts. Of predecessor, the token
-- that a purchase continues, only the digest is kept. No rows.
INSERT INTO renewald.observation AS kept (shard, id, version, heard, predecessor)
SELECT
    next.shard, next.id, next.version, next.heard, sha256(convert_to(next.predecessor, 'UTF8'))
FROM unnest($rows) AS next (shard int2, id int8, version int8, heard bytea, predecessor text)
ON CONFLICT (shard, id) DO UPDATE
SET version = excluded.version, heard = excluded.heard, predecessor = excluded.predecessor
