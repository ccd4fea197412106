-- Products that are granted without an end because no duration is configured for them. No parameters. One row an app
-- and product, those with most purchases first: twenty at most.
WITH endless AS MATERIALIZED (
    SELECT schedule.lane, purchase.product, count(*) AS purchases
    FROM renewald.schedule
    JOIN renewald.purchase ON purchase.shard = schedule.shard AND purchase.id = schedule.id
    WHERE schedule.problem = 'unsupported: no duration is configured'
    GROUP BY schedule.lane, purchase.product
)
SELECT app.store, app.app, endless.product, endless.purchases
FROM endless
JOIN renewald.app USING (lane)
WHERE app.configured
ORDER BY endless.purchases DESC, app.store, app.app, endless.product
LIMIT 20
