-- Notes how far a file was imported, in the transaction that takes the lines in.
-- $1 bytea (the SHA-256 of the file); $2 int8 and $3 int8 (byte and number of the next line); $4, $5, $6 int8 (lines
-- submitted, known, bad so far); $7 int8 (bytes of the file of bad lines). No rows.
UPDATE renewald.import
SET place = $2, line = $3, submitted = $4, known = $5, bad = $6, rejected = $7, updated_at = now()
WHERE digest = $1
