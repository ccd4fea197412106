-- Writes down that an answer is about to be sent, unless the request has changed since it was read: nobody else sends
-- it then, and after a crash it is known that it may have been sent.
-- id: int8; attempts: int4, token: text and given: text (the answer), as they were read; worker: uuid; limit: int8
-- (microseconds); author and answer: text; consumed: int4; delivered, sample, consented: bool. One row if so.
UPDATE renewald.refund_request AS request
SET sender = $worker, sending_until = now() + $limit * interval '1 microsecond',
    attempts = request.attempts + 1, answer = $answer,
    answered_by = coalesce(request.answered_by, $author),
    answered_at = coalesce(request.answered_at, now()), consumed_milli_percent = $consumed,
    delivered = $delivered, sample_provided = $sample, customer_consented = $consented
WHERE request.id = $id
  AND request.state = 'open'
  AND request.attempts = $attempts
  AND request.sender IS NULL
  AND request.answer_by > now()
  AND request.token IS NOT DISTINCT FROM $token
  AND request.answer IS NOT DISTINCT FROM $given
RETURNING request.id
