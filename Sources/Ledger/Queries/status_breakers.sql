-- The breakers of apps and what is held of each. $1 int8 (the window, microseconds). One row an app that has lost
-- anything yet.
SELECT
    app.store, app.app, app.lane, breaker.trip_id, breaker.tripped_at, coalesce(breaker.past, 0) AS past,
    coalesce(breaker.in_force, 0) AS in_force, app.counted_since,
    coalesce(counted.early, 0)::int8 AS early, coalesce(counted.held, 0)::int8 AS held,
    coalesce(waiting.revocations, 0) AS waiting, now() AS now
FROM renewald.app
LEFT JOIN renewald.breaker ON breaker.lane = app.lane
LEFT JOIN (
    SELECT purchase.lane, count(*) AS revocations
    FROM renewald.held_revocation AS held
    JOIN renewald.purchase ON purchase.shard = held.shard AND purchase.id = held.purchase_id
        AND purchase.access = 'held'
    GROUP BY purchase.lane
) AS waiting ON waiting.lane = app.lane
LEFT JOIN LATERAL (
    SELECT sum(loss.early) AS early, sum(loss.held) AS held
    FROM renewald.loss_count AS loss
    WHERE loss.lane = app.lane
      AND loss.minute > now() - $1::int8 * interval '1 microsecond' - interval '1 minute'
) AS counted ON true
WHERE breaker.lane IS NOT NULL
   OR waiting.revocations > 0
