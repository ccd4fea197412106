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
), looked_at AS MATERIALIZED (
    (SELECT * FROM strange ORDER BY lane DESC LIMIT 5000)
    UNION
    (SELECT * FROM strange ORDER BY lane LIMIT 5000)
), sampled AS MATERIALIZED (
    SELECT pair.lane, count(*) AS shards
    FROM (
        SELECT place.shard, unnest(ARRAY(SELECT looked_at.lane FROM looked_at)) AS lane
        FROM renewald.every_shard AS place
        WHERE place.shard IN (0, 64, 128, 192)
    ) AS pair
    CROSS JOIN LATERAL (
        SELECT 1 FROM renewald.schedule
        WHERE schedule.shard = pair.shard AND schedule.lane = pair.lane
        LIMIT 1
    ) AS queue
    GROUP BY pair.lane
), chosen AS MATERIALIZED (
    SELECT looked_at.*
    FROM looked_at LEFT JOIN sampled USING (lane)
    ORDER BY coalesce(sampled.shards, 0) DESC, looked_at.lane DESC
    LIMIT 100
), counted AS MATERIALIZED (
    SELECT pair.lane, sum(queue.purchases)::int8 AS purchases
    FROM (
        SELECT place.shard, unnest(ARRAY(SELECT chosen.lane FROM chosen)) AS lane
        FROM renewald.every_shard AS place
    ) AS pair
    CROSS JOIN LATERAL (
        SELECT count(*) AS purchases
        FROM renewald.schedule
        WHERE schedule.shard = pair.shard AND schedule.lane = pair.lane
    ) AS queue
    GROUP BY pair.lane
)
SELECT chosen.store, chosen.app, counted.purchases
FROM chosen JOIN counted USING (lane)
WHERE counted.purchases > 0
ORDER BY counted.purchases DESC, chosen.store, chosen.app
