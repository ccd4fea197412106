-- Locks the breakers of apps, always in the same order, so that what two workers count adds up, and keeps what was
-- measured of them; null where nothing was. A row an app. No rows.
INSERT INTO renewald.breaker AS breaker (lane, past, in_force, measured_at)
SELECT losing.lane, coalesce(losing.past, 0), coalesce(losing.in_force, 0), losing.measured_at
FROM unnest($rows) AS losing (lane int4, past int8, in_force int8, measured_at timestamptz)
ORDER BY losing.lane
ON CONFLICT (lane) DO UPDATE
SET past = CASE WHEN excluded.measured_at IS NULL THEN breaker.past ELSE excluded.past END,
    in_force = CASE WHEN excluded.measured_at IS NULL THEN breaker.in_force ELSE excluded.in_force END,
    measured_at = coalesce(excluded.measured_at, breaker.measured_at)
