-- Names the purchase of open questions that were stored while it was first checked: neither commit saw the other.
-- No parameters, no rows.
UPDATE renewald.refund_request AS request
SET purchase_id = found.id
FROM (
    SELECT lost.id AS request_id, coalesce(original.id, named.id) AS id
    FROM renewald.refund_request AS lost
    LEFT JOIN renewald.original_key AS original
        ON original.lane = lost.lane AND original.original_id = lost.original_id
    LEFT JOIN renewald.order_key AS named
        ON named.lane = lost.lane AND named.digest = lost.original_digest
    WHERE lost.state = 'open'
      AND lost.purchase_id IS NULL
    -- An answer that is not committed yet is not waited for, nor below.
    FOR UPDATE OF lost SKIP LOCKED
) AS found
WHERE request.id = found.request_id
  AND found.id IS NOT NULL
