-- Writes down how an attempt to send an answer has ended, unless a later one has begun. One that was given up
-- meanwhile still counts when the store has it.
-- id: int8; attempts: int4 (the attempt's own number); worker: uuid; ending: text (taken, uncertain, refused or
-- later); problem: text; rest: int8 (microseconds until it is sent again). No rows.
UPDATE renewald.refund_request AS request
SET state = CASE
        WHEN request.state <> 'closed' AND $ending = 'taken' THEN 'answered'
        WHEN request.state = 'open' AND $ending = 'uncertain' THEN 'answered'
        ELSE request.state
    END,
    sender = NULL, sending_until = NULL, problem = $problem,
    send_at = CASE
        WHEN $ending = 'refused' THEN 'infinity'
        ELSE now() + $rest * interval '1 microsecond'
    END
WHERE request.id = $id
  AND request.attempts = $attempts
  AND (request.sender = $worker OR $ending = 'taken')
