-- How far a file was imported. Waits for a commit that is under way: one who was killed may have sent it last.
-- $1 bytea (the SHA-256 of the file). One row, or none.
SELECT reading, place, line, submitted, known, bad, rejected
FROM renewald.import
WHERE digest = $1
FOR UPDATE
