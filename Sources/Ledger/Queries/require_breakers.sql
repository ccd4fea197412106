-- Fails when another worker has tripped a breaker meanwhile, or has used up the room under its limit. A row an
-- app: its last known trip and the limit. now: a time; window: microseconds. One row.
SELECT renewald.require(count(*) = cardinality($lane), 'the breaker of an app')
FROM unnest($rows) AS known (lane int4, trip_id int8, most int8)
JOIN renewald.breaker ON breaker.lane = known.lane
WHERE breaker.trip_id IS NOT DISTINCT FROM known.trip_id
  AND known.most >= (
      SELECT coalesce(sum(loss.early), 0)
      FROM renewald.loss_count AS loss
      WHERE loss.lane = known.lane
        AND loss.minute > $now::timestamptz - $window::int8 * interval '1 microsecond' - interval '1 minute'
        AND loss.minute <= $now::timestamptz)
