-- Makes these purchases of one lane due, unless they were moved since they were read, or another session holds them; in
-- the order in which commits lock them.
-- $1 int2[], $2 timestamptz[], $3 int8[] (shard, place in the schedule, id of each); $4 int4 (lane). One row: woken.
WITH given AS MATERIALIZED (
    SELECT
        place.shard, array_agg($4::int4) AS lanes, array_agg(place.due_at) AS due_ats, array_agg(place.id) AS ids
    FROM unnest($1::int2[], $2::timestamptz[], $3::int8[]) AS place (shard, due_at, id)
    WHERE place.due_at > now()
    GROUP BY place.shard
    ORDER BY place.shard
), chosen AS MATERIALIZED (
    SELECT given.shard, free.lane, free.due_at, free.id
    FROM given
    CROSS JOIN LATERAL renewald.lock_places(given.shard, given.lanes, given.due_ats, given.ids) AS free
), woken AS (
    UPDATE renewald.schedule
    SET due_at = now()
    FROM chosen
    WHERE schedule.shard = chosen.shard
      AND schedule.lane = chosen.lane
      AND schedule.due_at = chosen.due_at
      AND schedule.id = chosen.id
    RETURNING 1
)
SELECT count(*) AS woken FROM woken
