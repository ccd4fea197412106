-- Apps with purchases that are not among the given: a hundred of them, first those that have purchases in most of four
-- shards, so that no crowd of invented names hides one with many; then those that came last. Of more than ten thousand
-- names the first and the last are looked at. What is counted is read from the queue's index.
-- $1 text[] and $2 text[] (stores and names of those that are configured). One row an app, those with most
-- purchases first.
WITH strange AS NOT MATERIALIZED (
    SELECT app.lane, app.store, app.app
    FROM renewald.app
    WHERE NOT EXISTS (
        SELECT FROM unnest($1::text[], $2::text[]) AS given (store, app)
        WHERE given.store = app.store AND given.app = app.app)
), looked_at AS (
    (SELECT * FROM strange ORDER BY lane DESC LIMIT 5000)
    UNION
    (SELECT * FROM strange ORDER BY lane LIMIT 5000)
), chosen AS (
    SELECT looked_at.*
    FROM looked_at
    ORDER BY (
        SELECT count(*)
        FROM unnest('{0,64,128,192}'::int2[]) AS sample (shard)
        WHERE EXISTS (
            SELECT FROM renewald.schedule
            WHERE schedule.shard = sample.shard AND schedule.lane = looked_at.lane)
    ) DESC, looked_at.lane DESC
    LIMIT 100
)
SELECT chosen.store, chosen.app, sum(queue.purchases)::int8 AS purchases
FROM chosen
CROSS JOIN renewald.shard
CROSS JOIN LATERAL (
    SELECT count(*) AS purchases
    FROM renewald.schedule
    WHERE schedule.shard = shard.shard AND schedule.lane = chosen.lane
) AS queue
GROUP BY chosen.store, chosen.app
HAVING sum(queue.purchases) > 0
ORDER BY purchases DESC, chosen.store, chosen.app
