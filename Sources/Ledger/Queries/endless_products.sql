-- Products that are granted without an end because no duration is configured for them. No parameters. One row an app
-- and product, those with most purchases first: twenty at most.
SELECT app.store, app.app, purchase.product, count(*) AS purchases
FROM renewald.schedule
JOIN renewald.app USING (lane)
JOIN renewald.purchase ON purchase.shard = schedule.shard AND purchase.id = schedule.id
WHERE schedule.problem = 'unsupported: no duration is configured'
  AND app.configured
GROUP BY app.store, app.app, purchase.product
ORDER BY purchases DESC, app.store, app.app, purchase.product
LIMIT 20
