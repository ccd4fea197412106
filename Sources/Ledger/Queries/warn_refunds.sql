-- Notes that a deadline is two hours away and the store has no answer, once for each request. What has just come is
-- left to the policy first. No parameters. One row each.
WITH free AS MATERIALIZED (
    SELECT request.id
    FROM renewald.refund_request AS request
    WHERE request.state = 'open'
      AND request.answer_by <= now() + interval '2 hours'
      AND request.warned_at IS NULL
      AND request.heard_at <= now() - interval '1 minute'
    FOR UPDATE SKIP LOCKED
), warned AS (
    UPDATE renewald.refund_request AS request
    SET warned_at = now()
    FROM free
    CROSS JOIN renewald.app
    WHERE request.id = free.id
      AND app.lane = request.lane
    RETURNING request.id, app.store, app.app, request.answer_by
)
SELECT 'unanswered' AS cause, warned.* FROM warned
