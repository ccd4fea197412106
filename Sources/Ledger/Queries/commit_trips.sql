-- Trips the breakers of apps; fails when another worker has tripped one meanwhile. A row an app: its last known
-- trip. now: a time. One row.
WITH tripped AS (
    UPDATE renewald.breaker
    SET trip_id = nextval('renewald.trip_number'), tripped_at = $now::timestamptz
    FROM unnest($rows) AS known (lane int4, trip_id int8)
    WHERE breaker.lane = known.lane
      AND breaker.trip_id IS NOT DISTINCT FROM known.trip_id
    RETURNING 1
)
SELECT renewald.require(count(*) = cardinality($lane), 'the breaker of an app') FROM tripped
