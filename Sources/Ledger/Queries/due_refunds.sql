-- The open requests whose answer is to be sent now, the nearest deadline first: those with an answer, and where the
-- policy decides those that the app has had its time for, which ends three hours before the deadline. Apple takes
-- nothing without consent. The paid period of the order ends with the evidence of that order, and begins where the
-- order before it ended, or when the purchase was submitted.
-- decides: bool; wait: int8 (microseconds); consented: bool; limit: int4. One row a request.
SELECT
    request.id, app.store, app.app, request.news_ids[1] AS news, request.original_id,
    request.order_id, request.environment, request.token, request.reason, request.asked_at,
    request.answer_by, request.account_token, request.answer, request.consumed_milli_percent,
    request.delivered, request.sample_provided, request.customer_consented, request.attempts,
    purchase.kind, this.ends_at, coalesce(before.ends_at, purchase.created_at) AS starts_at
FROM unnest($rows) AS served (store text, app text)
JOIN renewald.app ON app.store = served.store AND app.app = served.app
JOIN renewald.refund_request AS request ON request.lane = app.lane AND request.state = 'open'
LEFT JOIN renewald.purchase ON purchase.id = request.purchase_id
LEFT JOIN LATERAL (
    SELECT coalesce(
        max(seen.paid_through),
        CASE WHEN purchase.order_id = request.order_id THEN purchase.paid_through END
    ) AS ends_at
    FROM renewald.evidence AS seen
    WHERE seen.purchase_id = purchase.id AND seen.order_id = request.order_id
) AS this ON true
LEFT JOIN LATERAL (
    SELECT max(seen.paid_through) AS ends_at
    FROM renewald.evidence AS seen
    WHERE seen.purchase_id = purchase.id AND seen.order_id <> request.order_id
      AND seen.paid_through < this.ends_at
) AS before ON true
WHERE request.answer_by > now()
  AND request.sender IS NULL
  -- No rest is longer: it was noted before the clock was set back.
  AND (request.send_at <= now()
      OR request.send_at > now() + interval '65 minutes' AND request.send_at < 'infinity')
  AND (app.store <> 'apple' OR $consented OR request.customer_consented)
  AND (request.answer IS NOT NULL
      OR $decides AND now() >= least(
          request.heard_at + $wait * interval '1 microsecond',
          request.answer_by - interval '3 hours'))
ORDER BY request.answer_by, request.id
LIMIT $limit
