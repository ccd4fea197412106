-- Remembers what checks have looked into. No rows.
INSERT INTO renewald.clue (shard, id, clue, settled_at)
SELECT settled.shard, settled.id, settled.clue, now()
FROM unnest($rows) AS settled (shard int2, id int8, clue text)
ON CONFLICT (shard, id, clue) DO UPDATE SET settled_at = excluded.settled_at
