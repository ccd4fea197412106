-- Tells the workers that something of an app is due.
-- $1 text (store); $2 text (app). One row.
SELECT max(pg_notify('renewald_due', app.lane::text)::text) AS notified
FROM renewald.app
WHERE app.store = $1 AND app.app = $2
