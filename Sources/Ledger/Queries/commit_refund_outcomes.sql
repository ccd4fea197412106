-- Closes questions about refunds of orders that checks have found refunded. No rows.
UPDATE renewald.refund_request AS request
SET state = 'closed', outcome = 'refunded', sender = NULL, sending_until = NULL
FROM unnest($rows) AS refunded (store text, app text, order_id text)
JOIN renewald.app ON app.store = refunded.store AND app.app = refunded.app
WHERE request.lane = app.lane
  AND request.digest = sha256(convert_to(refunded.order_id, 'UTF8'))
  AND request.state <> 'closed'
