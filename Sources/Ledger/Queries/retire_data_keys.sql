-- Lets nobody encrypt with the data keys of other keys of the configuration any more: waits for commits that do.
-- $1 bytea (the key whose data keys stay in use; null for none). No rows.
UPDATE renewald.data_key
SET retired_at = now()
WHERE data_key.retired_at IS NULL
  AND data_key.key_id IS DISTINCT FROM $1
