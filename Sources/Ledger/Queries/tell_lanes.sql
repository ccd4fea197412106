-- Notes which apps a worker has configured.
-- $1 uuid (worker); $2 text[] and $3 text[] (stores, bundle ids or package names). No rows.
WITH told (lanes) AS (
    SELECT coalesce(array_agg(app.lane ORDER BY app.lane), '{}')
    FROM unnest($2::text[], $3::text[]) AS given (store, app)
    JOIN renewald.app ON app.store = given.store AND app.app = given.app
)
UPDATE renewald.worker
SET lanes = told.lanes
FROM told
WHERE worker.id = $1
  AND worker.lanes <> told.lanes
