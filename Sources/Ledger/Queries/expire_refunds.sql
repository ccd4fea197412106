-- Ends the requests whose deadline has passed without the store having an answer. No parameters. One row each.
WITH expired AS (
    UPDATE renewald.refund_request AS request
    SET state = 'expired'
    FROM renewald.app
    WHERE app.lane = request.lane
      AND request.state = 'open'
      AND request.answer_by <= now()
      AND request.sender IS NULL
    RETURNING request.id, app.store, app.app, request.answer_by
)
SELECT 'expired' AS cause, expired.* FROM expired
