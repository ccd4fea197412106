-- Takes leave to encrypt so many messages with the newest data key that may still be used.
-- $1 bytea (the key of the configuration), $2 int8 (messages), $3 int8 (most messages of one data key).
-- No row where there is none.
UPDATE renewald.data_key
SET messages = data_key.messages + $2
WHERE data_key.id = (
    SELECT newest.id FROM renewald.data_key AS newest
    WHERE newest.key_id = $1 AND newest.retired_at IS NULL AND newest.messages + $2 <= $3
    ORDER BY newest.id DESC
    LIMIT 1)
  AND data_key.retired_at IS NULL
RETURNING data_key.id, data_key.key_id, data_key.wrapped
