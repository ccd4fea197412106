-- The due purchases of one lane in the given shards, oldest first in each shard. A plain read.
-- $1 int2[], $2 timestamptz[], $3 int8[] (shards, and for each the place after which to go on); $4 int4
-- (lane); $5 int4 (most of one shard); $6 int4 (most in all); {due} is what of it is due: never the suspects of a crash
-- together with others. One row a purchase, also where parts of it are missing: it cannot be read, and is set aside.
SELECT
    {claim_columns},
    due.problem
FROM (
    SELECT every_shard.shard
    FROM renewald.every_shard
    WHERE every_shard.shard = ANY ($1::int2[])
    ORDER BY array_position($1::int2[], every_shard.shard)
) AS place
CROSS JOIN LATERAL (
    SELECT schedule.*
    FROM renewald.schedule
    WHERE schedule.shard = place.shard
      AND schedule.lane = $4
      AND {due}
      AND (schedule.due_at, schedule.id)
          > (($2::timestamptz[])[array_position($1::int2[], place.shard)],
              ($3::int8[])[array_position($1::int2[], place.shard)])
    ORDER BY schedule.due_at, schedule.id
    LIMIT $5
) AS due
LEFT JOIN renewald.purchase ON purchase.shard = due.shard AND purchase.id = due.id
LEFT JOIN renewald.credential ON credential.shard = due.shard AND credential.id = due.id
LIMIT $6
