-- Makes due what lives by the order of a purchase that has ended: unless another session holds it, or it is due already.
-- It is due since that purchase was, so that the same pass asks about it.
-- $1 int2[], $2 int4[], $3 int8[], $4 timestamptz[] (shard, lane, id, since when it is due of each). One row: woken.
WITH given AS MATERIALIZED (
    SELECT given.shard, given.lane, given.id, least(given.since, now()) AS due_at, now() AS now
    FROM unnest($1::int2[], $2::int4[], $3::int8[], $4::timestamptz[]) AS given (shard, lane, id, since)
), part AS MATERIALIZED (
    SELECT given.shard, array_agg(given.lane) AS lanes, array_agg(given.id) AS ids
    FROM given
    GROUP BY given.shard
    ORDER BY given.shard
), free AS MATERIALIZED (
    SELECT part.shard, renewald.lock_free(part.shard, part.lanes, part.ids) AS ids FROM part
), woken AS (
    UPDATE renewald.schedule
    SET due_at = given.due_at
    FROM given
    JOIN free ON free.shard = given.shard AND given.id = ANY (free.ids)
    WHERE schedule.shard = given.shard
      AND schedule.lane = given.lane
      AND schedule.id = given.id
      AND schedule.due_at > given.now
    RETURNING 1
)
SELECT count(*) AS woken FROM woken
