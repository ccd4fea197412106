-- Measures what the limits of apps above the floor are taken from: how many purchases are in force, and how
-- many early revocations were let through in the past four weeks before the window. Of a fleet of more than 250,000
-- purchases as many are read, by whole shards: shards are hashes, so they are alike.
-- $1 int4[] (lanes); $2 timestamptz (now); $3 int8 (the window, microseconds). One row a lane.
WITH stride AS MATERIALIZED (
    SELECT least(greatest(ceil(reltuples / 250000.0), 1), 256)::int4 AS length
    FROM pg_class
    WHERE oid = 'renewald.purchase'::regclass
), sample AS MATERIALIZED (
    SELECT
        shard.shard, count(*) OVER () AS taken,
        (SELECT count(*) FROM renewald.shard) AS every
    FROM renewald.shard
    CROSS JOIN stride
    WHERE shard.shard % stride.length = 0
), in_force AS MATERIALIZED (
    SELECT purchase.lane, count(*) * max(sample.every) / max(sample.taken) AS purchases
    FROM sample
    JOIN renewald.purchase ON purchase.shard = sample.shard
    WHERE purchase.lane = ANY ($1::int4[])
      AND purchase.access <> 'none'
    GROUP BY purchase.lane
)
SELECT
    given.lane, coalesce(in_force.purchases, 0)::int8 AS in_force,
    (SELECT coalesce(sum(loss.early), 0)::int8
     FROM renewald.loss_count AS loss
     WHERE loss.lane = given.lane
       AND loss.minute > $2::timestamptz - interval '28 days'
       AND loss.minute <= $2::timestamptz - $3::int8 * interval '1 microsecond') AS past
FROM unnest($1::int4[]) AS given (lane)
LEFT JOIN in_force ON in_force.lane = given.lane
