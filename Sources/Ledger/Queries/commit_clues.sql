-- Remembers what checks have looked into.
-- $1 int2[], $2 int8[] (shards, ids); $3 text[] (clues). No rows.
INSERT INTO renewald.clue (shard, id, clue, settled_at)
SELECT settled.shard, settled.id, settled.clue, now()
FROM unnest($1::int2[], $2::int8[], $3::text[]) AS settled (shard, id, clue)
ON CONFLICT (shard, id, clue) DO UPDATE SET settled_at = excluded.settled_at
