-- What the workers have counted of the revocations of apps in the window up to now, in whole minutes, and what a
-- limit above the floor is taken from, as it was measured last.
-- $1 int4[] (lanes); $2 timestamptz (now); $3 int8 (the window, microseconds). One row a lane.
SELECT
    app.lane, breaker.trip_id, breaker.tripped_at, breaker.measured_at,
    coalesce(breaker.past, 0) AS past, coalesce(breaker.in_force, 0) AS in_force,
    app.counted_since, coalesce(counted.early, 0)::int8 AS early, coalesce(counted.held, 0)::int8 AS held
FROM renewald.app
LEFT JOIN renewald.breaker ON breaker.lane = app.lane
CROSS JOIN LATERAL (
    SELECT sum(loss.early) AS early, sum(loss.held) AS held
    FROM renewald.loss_count AS loss
    WHERE loss.lane = app.lane
      AND loss.minute > $2::timestamptz - $3::int8 * interval '1 microsecond' - interval '1 minute'
      AND loss.minute <= $2
) AS counted
WHERE app.lane = ANY ($1::int4[])
