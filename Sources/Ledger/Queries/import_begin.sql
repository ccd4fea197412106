-- A file is imported from its beginning.
-- $1 bytea (the SHA-256 of the file); $2 text (how it is read). No rows.
INSERT INTO renewald.import AS known (digest, reading)
VALUES ($1, $2)
ON CONFLICT (digest) DO UPDATE
SET reading = excluded.reading, place = 0, line = 1, submitted = 0, known = 0, bad = 0, rejected = 0,
    started_at = now(), updated_at = now()
