-- Fails when another worker has meanwhile counted so many ends that came with the revoke that these go beyond the
-- limit. A row an app and minute: the most that may have lapsed in the window up to it. window: microseconds. One row.
SELECT renewald.require(count(*) = cardinality($lane), 'the breaker of an app')
FROM unnest($rows) AS known (lane int4, minute timestamptz, most int8)
WHERE known.most >= (
    SELECT coalesce(sum(loss.lapsed), 0)
    FROM renewald.loss_count AS loss
    WHERE loss.lane = known.lane
      AND loss.minute > known.minute - $window::int8 * interval '1 microsecond'
      AND loss.minute <= known.minute)
