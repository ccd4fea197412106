-- How far a file was imported.
-- $1 bytea (the SHA-256 of the file). One row, or none.
SELECT reading, place, line, submitted, known, bad, rejected
FROM renewald.import
WHERE digest = $1
