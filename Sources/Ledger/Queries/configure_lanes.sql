-- Notes which apps any worker has configured. What has become due meanwhile is due as soon as one has: nothing
-- of the schedule is written. Apps that nobody has configured, and that are known to be so, are not read.
-- $1 text[] and $2 text[] (stores and names of the apps of this worker). One row for each of its apps: its lane,
-- whether it is paused; and the highest lane of all apps.
WITH own AS MATERIALIZED (
    SELECT app.lane, app.store, app.app
    FROM unnest($1::text[], $2::text[]) AS given (store, app)
    JOIN renewald.app ON app.store = given.store AND app.app = given.app
), served AS MATERIALIZED (
    SELECT lane FROM own
    UNION
    SELECT unnest(worker.lanes)
    FROM renewald.worker
    WHERE worker.seen_until > now() AND worker.seen_until <= now() + interval '65 minutes'
), come AS (
    UPDATE renewald.app
    SET configured = true
    FROM served
    WHERE app.lane = served.lane
      AND app.configured IS DISTINCT FROM true
), gone AS (
    UPDATE renewald.app
    SET configured = false
    WHERE app.configured IS NOT false
      AND app.lane NOT IN (SELECT lane FROM served)
)
SELECT
    own.lane, own.store, own.app, bucket.paused_at IS NOT NULL AS paused,
    (SELECT max(app.lane) FROM renewald.app) AS highest
FROM own
LEFT JOIN renewald.bucket ON bucket.bucket = own.store || '/' || own.app
ORDER BY own.lane
