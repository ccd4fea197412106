-- Keeps sources of hints that this worker is reading.
-- $1 uuid (worker); $2 text[] (sources); $3 int8 (lease, microseconds). One row for each that it still has.
UPDATE renewald.hint_source
SET lease_until = now() + $3 * interval '1 microsecond'
WHERE source = ANY ($2::text[])
  AND owner = $1
RETURNING source
