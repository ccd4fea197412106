-- Sets purchases aside whose rows cannot be read, so that they do not come due again and again; for five minutes where
-- that may have changed by then. Those that another session holds are left as they are. One row a purchase that was set
-- aside.
WITH given AS MATERIALIZED (
    SELECT
        bad.*,
        CASE WHEN bad.for_a_while THEN now() + interval '5 minutes' ELSE '9999-12-31 00:00+00' END AS until
    FROM unnest($rows) AS bad (
        shard int2, lane int4, due_at timestamptz, id int8, problem text, for_a_while bool
    )
), place AS MATERIALIZED (
    SELECT
        given.shard, array_agg(given.lane) AS lanes, array_agg(given.due_at) AS due_ats, array_agg(given.id) AS ids
    FROM given
    GROUP BY given.shard
    ORDER BY given.shard
), bad AS MATERIALIZED (
    SELECT given.shard, given.lane, given.due_at, given.id, given.problem, given.until
    FROM place
    CROSS JOIN LATERAL renewald.lock_places(place.shard, place.lanes, place.due_ats, place.ids) AS free
    JOIN given ON given.shard = place.shard AND given.id = free.id
)
UPDATE renewald.schedule
SET due_at = bad.until, problem = bad.problem
FROM bad
WHERE schedule.shard = bad.shard
  AND schedule.lane = bad.lane
  AND schedule.due_at = bad.due_at
  AND schedule.id = bad.id
RETURNING schedule.id
