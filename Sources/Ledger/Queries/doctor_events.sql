-- What renewald.events_after asks, for its plan alone. $1 int8 (id); $2 int4 (most rows). One row an event.
SELECT * FROM renewald.events AS event WHERE event.id > $1 ORDER BY event.id LIMIT $2
