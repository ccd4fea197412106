-- The id of the newest event. One row: last_id int8.
SELECT last_id FROM renewald.event_counter
