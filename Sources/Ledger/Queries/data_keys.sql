-- Some data keys, as they are kept.
-- $1 int4[] (their numbers). One row each that is there.
SELECT data_key.id, data_key.key_id, data_key.wrapped
FROM renewald.data_key
WHERE data_key.id = ANY ($1)
