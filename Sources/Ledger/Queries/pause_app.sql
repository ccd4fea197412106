-- Lets nobody ask an app's store any more, or again. It is told to the workers at once.
-- $1 text (bucket); $2 bool (no more); $3 text and $4 text (store and app). One row: since when it is paused, null
-- where it is not; whether that has changed.
WITH known AS MATERIALIZED (
    SELECT paused_at FROM renewald.bucket WHERE bucket.bucket = $1
), changed AS (
    INSERT INTO renewald.bucket (bucket, paused_at)
    VALUES ($1, CASE WHEN $2 THEN now() END)
    ON CONFLICT (bucket) DO UPDATE
    SET paused_at = CASE WHEN $2 THEN coalesce(bucket.paused_at, now()) END
    RETURNING paused_at
), told AS MATERIALIZED (
    SELECT max(pg_notify('renewald_due', '')::text) AS notified
    FROM renewald.app
    WHERE app.store = $3 AND app.app = $4
)
SELECT
    changed.paused_at,
    changed.paused_at IS DISTINCT FROM (SELECT known.paused_at FROM known) AS has_changed,
    told.notified
FROM changed, told
