-- Ends the requests whose deadline has passed without the store having an answer. No parameters. One row each.
WITH free AS MATERIALIZED (
    SELECT request.id
    FROM renewald.refund_request AS request
    WHERE request.state = 'open'
      AND request.answer_by <= now()
      AND request.sender IS NULL
    FOR UPDATE SKIP LOCKED
), expired AS (
    UPDATE renewald.refund_request AS request
    SET state = 'expired'
    FROM free
    CROSS JOIN renewald.app
    WHERE request.id = free.id
      AND app.lane = request.lane
    RETURNING request.id, app.store, app.app, request.answer_by
)
SELECT 'expired' AS cause, expired.* FROM expired
