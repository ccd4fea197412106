-- Lets go of answers whose sender was not heard of again. Google keeps the first call, so it is not called a second
-- time; Apple may be told the same again. No parameters. One row for each that is not sent again.
WITH free AS MATERIALIZED (
    SELECT request.id
    FROM renewald.refund_request AS request
    WHERE request.state = 'open'
      -- Nobody sends for so long: it was noted before the clock was set back.
      AND (request.sending_until <= now() OR request.sending_until > now() + interval '65 minutes')
    FOR UPDATE SKIP LOCKED
), lapsed AS (
    UPDATE renewald.refund_request AS request
    SET state = CASE WHEN app.store = 'google' THEN 'answered' ELSE request.state END,
        sender = NULL, sending_until = NULL, send_at = now(),
        problem = CASE WHEN app.store = 'google' THEN
            'unreachable: it is not known whether Google has the answer, and it keeps the first one: '
            'the process that sent it has ended'
        END
    FROM free
    CROSS JOIN renewald.app
    WHERE request.id = free.id
      AND app.lane = request.lane
    RETURNING request.id, app.store, app.app, request.answer_by, request.state
)
SELECT 'uncertain' AS cause, lapsed.id, lapsed.store, lapsed.app, lapsed.answer_by
FROM lapsed
WHERE lapsed.state = 'answered'
