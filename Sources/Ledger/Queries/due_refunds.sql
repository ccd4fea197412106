-- The open requests whose answer is to be sent now, the nearest deadline first: those with an answer, and where the
-- policy decides those that the app has had its time for, which ends three hours before the deadline. Apple takes
-- nothing without consent. The paid period of the order ends with the evidence of that order, and begins where the
-- order before it ended, or when the purchase was submitted.
-- decides: bool; wait: int8 (microseconds); consented: bool; limit: int4. One row a request.
WITH asked AS MATERIALIZED (
    SELECT
        request.id, app.store, app.app, request.news_ids[1] AS news, request.original_id,
        request.order_id, request.environment, request.token, request.reason, request.asked_at,
        request.answer_by, request.account_token, request.answer, request.consumed_milli_percent,
        request.delivered, request.sample_provided, request.customer_consented, request.attempts,
        request.purchase_id
    FROM unnest($rows) AS served (store text, app text)
    JOIN renewald.app ON app.store = served.store AND app.app = served.app
    JOIN renewald.refund_request AS request ON request.lane = app.lane AND request.state = 'open'
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
), bought AS MATERIALIZED (
    SELECT asked.id, purchase.kind, purchase.order_id, purchase.paid_through, purchase.created_at
    FROM asked JOIN renewald.purchase ON purchase.id = asked.purchase_id
), seen AS MATERIALIZED (
    SELECT
        asked.id, max(evidence.paid_through) FILTER (WHERE evidence.order_id = asked.order_id) AS ends_at,
        array_agg(evidence.paid_through) FILTER (WHERE evidence.order_id <> asked.order_id) AS other_ends
    FROM asked JOIN renewald.evidence ON evidence.purchase_id = asked.purchase_id
    GROUP BY asked.id
)
SELECT
    asked.id, asked.store, asked.app, asked.news, asked.original_id,
    asked.order_id, asked.environment, asked.token, asked.reason, asked.asked_at,
    asked.answer_by, asked.account_token, asked.answer, asked.consumed_milli_percent,
    asked.delivered, asked.sample_provided, asked.customer_consented, asked.attempts,
    bought.kind, this.ends_at, coalesce(before.ends_at, bought.created_at) AS starts_at
FROM asked
LEFT JOIN bought ON bought.id = asked.id
LEFT JOIN seen ON seen.id = bought.id
CROSS JOIN LATERAL (
    SELECT coalesce(
        seen.ends_at, CASE WHEN bought.order_id = asked.order_id THEN bought.paid_through END
    ) AS ends_at
) AS this
CROSS JOIN LATERAL (
    SELECT max(ends_at) AS ends_at FROM unnest(seen.other_ends) AS other (ends_at)
    WHERE other.ends_at < this.ends_at
) AS before
ORDER BY asked.answer_by, asked.id
