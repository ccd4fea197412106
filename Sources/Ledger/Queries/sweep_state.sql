-- Whether calls of one lane are needed otherwise, in whatever shard: something has been due for too long, or was
-- imported and waits for its first check. A probe of the queue's index for each shard, as far as the first that has
-- any. And which news of its app is read.
-- $1 int4 (lane); $2 int8 (for how long, microseconds); $3 text[] (where its news comes from). One row: is_behind;
-- heard text[], the sources of $3 that were read within the hour and are not silent (status_sources.sql); now.
SELECT
    EXISTS (
        SELECT 1
        FROM renewald.every_shard AS every
        CROSS JOIN LATERAL (
            SELECT 1
            FROM renewald.schedule
            WHERE schedule.shard = every.shard
              AND schedule.lane = $1
              AND schedule.due_at <= now() - $2 * interval '1 microsecond'
              AND schedule.crashes = 0
            LIMIT 1
        ) AS late
    ) OR EXISTS (
        SELECT 1
        FROM renewald.backfill
        CROSS JOIN renewald.every_shard AS every
        CROSS JOIN LATERAL (
            SELECT 1
            FROM renewald.schedule
            WHERE schedule.shard = every.shard
              AND schedule.lane = $1
              AND schedule.due_at >= '9000-01-01 00:00+00'
              AND schedule.due_at < '9999-12-31 00:00+00'
              AND schedule.crashes = 0
            LIMIT 1
        ) AS waiting
        WHERE backfill.lane = $1
    ) AS is_behind,
    ARRAY(
        SELECT source.source FROM renewald.hint_source AS source
        WHERE source.source = ANY ($3)
          AND source.pulled_at > now() - interval '1 hour'
          AND (
              source.source NOT LIKE '% notifications'
              OR EXISTS (SELECT 1 FROM renewald.heard_hint WHERE heard_hint.source = source.source)
              OR EXISTS (
                  SELECT 1 FROM renewald.app
                  WHERE app.lane = $1 AND app.counted_since >= now() - interval '7 days'))
    ) AS heard,
    now() AS now
