-- The purchases of one lane in the given shards that became due last: where thousands wait, whoever has just bought does
-- not wait behind them all. A plain read: a probe of the queue's index for each shard.
-- $1 int2[] (shards); $2 int4 (lane); $3 int4 (most of one shard); $4 int4 (most in all). What a crash has left is cleared
-- elsewhere. One row a purchase, also where parts of it are missing.
SELECT
    {claim_columns},
    due.problem
FROM renewald.every_shard AS held
CROSS JOIN LATERAL (
    SELECT schedule.*
    FROM renewald.schedule
    WHERE schedule.shard = held.shard
      AND schedule.lane = $2
      AND schedule.due_at <= now()
      AND schedule.crashes = 0
    ORDER BY schedule.due_at DESC, schedule.id DESC
    LIMIT $3
) AS due
LEFT JOIN renewald.purchase ON purchase.shard = due.shard AND purchase.id = due.id
LEFT JOIN renewald.credential ON credential.shard = due.shard AND credential.id = due.id
WHERE held.shard = ANY ($1::int2[])
ORDER BY due.due_at DESC, due.id DESC
LIMIT $4
