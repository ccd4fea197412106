-- Notes how readings of sources of hints have ended, and lets go of the sources until they are due again. What
-- another worker has meanwhile is left alone. A reading of the future, of before the clock was set back, is one of now.
-- $1 uuid (worker); $2 text[] (sources); $3 text[] (where each goes on, or null: it stays); $4 bool[] (whether it
-- was read to its end); $5 int8[] (microseconds until it is due); $6 int8[] (failures in a row, or null: these and the
-- problem stay); $7 text[] (what is wrong with it). No rows.
UPDATE renewald.hint_source AS source
SET owner = NULL, lease_until = 'epoch', pull_at = now() + ended.rest * interval '1 microsecond',
    position = coalesce(ended.position, source.position),
    pulled_at = CASE
        WHEN ended.is_read OR source.pulled_at > now() THEN now()
        ELSE source.pulled_at
    END,
    failures = coalesce(ended.failures::int4, source.failures),
    problem = CASE WHEN ended.failures IS NULL THEN source.problem ELSE ended.problem END
FROM unnest($2::text[], $3::text[], $4::bool[], $5::int8[], $6::int8[], $7::text[])
    AS ended (source, position, is_read, rest, failures, problem)
WHERE source.source = ended.source
  AND source.owner = $1
