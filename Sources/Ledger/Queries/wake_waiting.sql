-- Makes due what news was about whose place another session held, unless one still does; also what is being asked about
-- now, or was since: the answer may be older than the news. No parameters. One row: how many.
WITH waiting AS MATERIALIZED (
    SELECT waiting.shard, waiting.id, waiting.lane FROM renewald.waiting_hint AS waiting
), part AS MATERIALIZED (
    SELECT waiting.shard, array_agg(waiting.lane) AS lanes, array_agg(waiting.id) AS ids
    FROM waiting
    GROUP BY waiting.shard
), free AS MATERIALIZED (
    SELECT part.shard, renewald.lock_free(part.shard, part.lanes, part.ids) AS ids FROM part
), woken AS (
    UPDATE renewald.schedule
    SET due_at = now(), attempts = 0
    FROM waiting
    JOIN free ON free.shard = waiting.shard AND waiting.id = ANY (free.ids)
    JOIN renewald.shard ON shard.shard = waiting.shard
    WHERE schedule.shard = waiting.shard AND schedule.lane = waiting.lane AND schedule.id = waiting.id
      AND (schedule.due_at > now() OR waiting.id = ANY (shard.in_hand))
      AND coalesce(schedule.problem, '') NOT LIKE 'set_aside:%'
    RETURNING 1
), there AS MATERIALIZED (
    SELECT waiting.shard, waiting.id
    FROM waiting
    JOIN renewald.schedule
        ON schedule.shard = waiting.shard AND schedule.lane = waiting.lane AND schedule.id = waiting.id
), done AS (
    -- What has gone to another user since was asked about for that.
    DELETE FROM renewald.waiting_hint AS kept
    USING waiting
    LEFT JOIN free ON free.shard = waiting.shard AND waiting.id = ANY (free.ids)
    LEFT JOIN there ON there.shard = waiting.shard AND there.id = waiting.id
    WHERE kept.shard = waiting.shard AND kept.id = waiting.id
      AND (free.shard IS NOT NULL OR there.shard IS NULL)
)
SELECT count(*) AS woken FROM woken
