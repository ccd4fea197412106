-- The retired data keys, until the end of the transaction: waits for commits that copy what they have encrypted.
-- No parameters. One row each.
SELECT data_key.id
FROM renewald.data_key
WHERE data_key.retired_at IS NOT NULL
ORDER BY data_key.id
FOR UPDATE
