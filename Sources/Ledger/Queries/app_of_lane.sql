-- The app of a lane.
-- $1 int4 (lane). One row.
SELECT store, app FROM renewald.app WHERE lane = $1
