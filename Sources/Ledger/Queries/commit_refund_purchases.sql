-- Names the purchase of questions about refunds that came before anybody had submitted it. No rows.
UPDATE renewald.refund_request AS request
SET purchase_id = known.id
FROM unnest($rows) AS known (lane int4, id int8, original_id text)
WHERE request.lane = known.lane
  AND request.original_digest = sha256(convert_to(known.original_id, 'UTF8'))
  AND request.purchase_id IS NULL
