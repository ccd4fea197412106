-- Those of the given lanes that no worker has configured. $1 int4[] (lanes). One row a lane: store, app.
SELECT app.store, app.app
FROM renewald.app
WHERE app.lane = ANY ($1) AND app.configured IS false
