-- Lets go of a source of hints until it is due again.
-- $1 text (source); $2 uuid (worker); $3 int8 (microseconds until then); $4 int4 (failures in a row);
-- $5 text (what is wrong with it). No rows.
UPDATE renewald.hint_source
SET owner = NULL, lease_until = 'epoch', pull_at = now() + $3 * interval '1 microsecond',
    failures = $4, problem = $5
WHERE source = $1
  AND owner = $2
