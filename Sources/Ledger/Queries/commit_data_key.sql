-- Fails unless the data key that the transaction has encrypted with is in use, and keeps it so until its end.
-- $1 int4. One row.
WITH held AS (
    SELECT FROM renewald.data_key
    WHERE data_key.id = $1 AND data_key.retired_at IS NULL
    FOR SHARE
)
SELECT renewald.require(count(*) = 1, 'the data key of the encryption') FROM held
