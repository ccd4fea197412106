-- Events after an id, in the order of their commits.
-- $1 int8 (id); $2 int4 (most rows). One row an event.
SELECT * FROM renewald.events_after($1, $2)
