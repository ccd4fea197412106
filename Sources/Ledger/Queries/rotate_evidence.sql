-- Makes room for the evidence of the coming months, and drops what is older than the limit.
-- $1 int8 (the limit in microseconds). One row: how many months were dropped.
SELECT renewald.rotate_evidence($1 * interval '1 microsecond') AS dropped
