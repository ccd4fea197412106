-- Apps with purchases that are not among the given: of the hundred that came last. What is counted is read from
-- the queue's index.
-- $1 text[] and $2 text[] (stores and names of those that are configured). One row an app, those with most
-- purchases first.
SELECT strange.store, strange.app, sum(queue.purchases)::int8 AS purchases
FROM (
    SELECT app.lane, app.store, app.app
    FROM renewald.app
    WHERE NOT EXISTS (
        SELECT FROM unnest($1::text[], $2::text[]) AS given (store, app)
        WHERE given.store = app.store AND given.app = app.app)
    ORDER BY app.lane DESC
    LIMIT 100
) AS strange
CROSS JOIN renewald.shard
CROSS JOIN LATERAL (
    SELECT count(*) AS purchases
    FROM renewald.schedule
    WHERE schedule.shard = shard.shard AND schedule.lane = strange.lane
) AS queue
GROUP BY strange.store, strange.app
HAVING sum(queue.purchases) > 0
ORDER BY purchases DESC, strange.store, strange.app
